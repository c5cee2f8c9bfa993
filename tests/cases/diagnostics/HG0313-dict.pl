% expect: HG0313 error 3
% A record as a dict of SWI-Prolog.
agent(profile{name: 'U:Qa', team: qa}).
