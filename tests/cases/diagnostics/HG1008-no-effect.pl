% expect: HG1008 note 5
% expect: HG1008 note 6
% expect: HG1008 note 7
% Directives of a Prolog program that change nothing here.
:- use_module(library(lists)).
:- style_check(-singleton).
:- table reports_to/2.
reports_to('U:Qa', 'U:PM').
