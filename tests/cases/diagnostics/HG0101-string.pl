% expect: HG0101 error 3
% The reason of a suspension is a string without its closing quote.
suspended('U:Cd', "left the team).
