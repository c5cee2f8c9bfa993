% Who may run the tools of tools.yaml that need a grant.

:- dynamic may_execute_tool/2.

may_execute_tool('bot:triage',  tool_label_issue).
may_execute_tool('bot:release', tool_label_issue).
may_execute_tool('bot:release', tool_publish).
