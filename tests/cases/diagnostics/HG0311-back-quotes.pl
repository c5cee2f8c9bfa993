% expect: HG0311 error 3
% Back quotes, as a shell or Markdown has them.
command(tool_run_shell, `ls -l`).
