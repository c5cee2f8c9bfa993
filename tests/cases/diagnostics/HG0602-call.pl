% expect: HG0602 error 5
% The condition of each tool is named in a fact, and called.
guard(tool_repl, tester).
tester('U:Qa').
may_execute_tool(Agent, Tool) :- guard(Tool, Check), call(Check, Agent).
