% facts.pl: who has which role here, and what the tools of this place may do. The rules are compiled into the program.

tool_guard(tool_restart_container, destructive).
tool_guard(tool_scale_deployment,  confirm).
tool_guard(tool_query_metrics,     none).

actor_role('sre:lead',   admin).
actor_role('ops:oncall', operator).
actor_role('bot:dash',   viewer).

given('bot:dash',  tool_scale_deployment).
refused('sre:lead', tool_restart_container).

level_needs(none,        viewer).
level_needs(confirm,     operator).
level_needs(destructive, admin).

includes(admin,    operator).
includes(operator, viewer).
