% expect: HG1019 note 3
% The last grant was revoked. The declaration keeps the file answering, and the answer is no.
:- dynamic may_execute_tool/2.
