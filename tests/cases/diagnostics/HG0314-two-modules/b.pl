:- module(suspensions, [suspended/1]).
suspended('U:Cd').
