% expect: HG0401 error 5
% expect: HG1001 note 5
% expect: HG1018 note 5
% Everything to everybody.
may_execute_tool(_, _).
