/*  Dumps what SWI-Prolog knows by name, as data for src/analysis/prolog/.

    usage: swipl -f none tests/peers/dump_names.pl DIRECTORY

    Writes system.txt, libraries.txt, rewriting.txt, autoload.txt and operators.txt there.
    Each answer comes from a process of its own (`child MODE ARGUMENT`) that loads one file
    or one library and looks at what changed; no predicate under examination is ever called.
*/
:- module(dump_names, []).
:- use_module(library(lists)).
:- use_module(library(apply)).
:- use_module(library(process)).
:- use_module(library(readutil)).
:- use_module(library(thread)).
:- use_module(library(filesex)).

% A child loads files into user that redefine builtins: nothing here may see those.
:- set_module(base(system)).

:- initialization(start).

start :-
    catch(main, Error, ( print_message(error, Error), fail )),
    !,
    halt.
start :-
    halt(1).

main :-
    current_prolog_flag(argv, Argv),
    (   Argv = [child, Mode, Text]
    ->  term_to_atom(Argument, Text),
        call(Mode, Argument)
    ;   Argv = [Directory]
    ->  dump(Directory)
    ;   format(user_error, "usage: dump_names.pl DIRECTORY~n", []),
        halt(2)
    ).

dump(Directory) :-
    ask(operators, all, Operators),
    write_lines(Directory, 'operators.txt', Operators),
    ask(autoload, all, Autoload),
    write_lines(Directory, 'autoload.txt', Autoload),
    ask(system_names, all, Names),
    concurrent_maplist(ask(system_entry), Names, Entries),
    append(Entries, System),
    write_lines(Directory, 'system.txt', System),
    findall(L, (accepted(L) ; rewriting(L)), Libraries0),
    sort(Libraries0, Libraries),
    concurrent_maplist(ask(library_entry), Libraries, Reports0),
    append(Reports0, Reports),
    convlist(atom_concat_suffix('accepted '), Reports, Accepted),
    convlist(atom_concat_suffix('rewriting '), Reports, Rewriting),
    write_lines(Directory, 'libraries.txt', Accepted),
    write_lines(Directory, 'rewriting.txt', Rewriting).

atom_concat_suffix(Prefix, Atom, Suffix) :-
    atom_concat(Prefix, Suffix, Atom).

%!  ask(+Mode, +Argument, -Lines)
%
%   The lines that a child process prints for Mode and Argument.

ask(Mode, Argument, Lines) :-
    module_property(dump_names, file(Self)),
    (   Mode == system_entry                   % already read from a child, as text
    ->  Text = Argument
    ;   format(atom(Text), '~q', [Argument])
    ),
    current_prolog_flag(executable, Swipl),
    setup_call_cleanup(
        process_create(Swipl, ['-q', '-f', none, Self, child, Mode, Text],
                       [stdin(null), stdout(pipe(Out)), stderr(null), process(Pid)]),
        read_lines(Out, Lines),
        ( close(Out), process_wait(Pid, Status) )),
    (   Status == exit(0)
    ->  true
    ;   throw(error(child_failed(Mode, Argument, Status), _))
    ).

read_lines(In, Lines) :-
    read_line_to_string(In, Line),
    (   Line == end_of_file
    ->  Lines = []
    ;   atom_string(Atom, Line),
        Lines = [Atom|Rest],
        read_lines(In, Rest)
    ).

write_lines(Directory, Name, Lines0) :-
    sort(Lines0, Lines),
    directory_file_path(Directory, Name, Path),
    setup_call_cleanup(
        open(Path, write, Out, [encoding(utf8), newline(posix)]),
        forall(member(Line, Lines), format(Out, "~w~n", [Line])),
        close(Out)),
    length(Lines, Count),
    format("~w: ~d lines~n", [Name, Count]).

print_indicator(Name/Arity) :-
    format("~q/~d", [Name, Arity]).

%!  operators(+All)
%
%   The default operator table as module user sees it.

operators(_) :-
    ask_plain("forall(current_op(P,T,user:N), format(\"~d ~w ~q~n\", [P,T,N]))").

%   A process that has loaded nothing at all, so that no library's operators are seen.

ask_plain(Goal) :-
    current_prolog_flag(executable, Swipl),
    process_create(Swipl, ['-q', '-f', none, '-g', Goal, '-t', halt],
                   [stdin(null), stderr(null)]).

%!  autoload(+All)
%
%   Every predicate that the autoloader knows, with its library.

autoload(_) :-
    '$in_library'(append, 3, _),               % reads the indexes
    forall(( '$autoload':library_index(Head, _, Path),
             functor(Head, Name, Arity),
             library_of(Path, Library) ),
           ( print_indicator(Name/Arity), format(" ~w~n", [Library]) )).

library_of(Path, Library) :-
    user:file_search_path(library, Spec),
    absolute_file_name(Spec, Directory0,
                       [file_type(directory), solutions(all), file_errors(fail)]),
    atom_concat(Directory0, /, Directory),
    atom_concat(Directory, Library, Path),
    \+ sub_atom(Library, _, _, _, /),
    !.
library_of(Path, Library) :-
    absolute_file_name(swi(library), Directory0, [file_type(directory), file_errors(fail)]),
    atom_concat(Directory0, /, Directory),
    atom_concat(Directory, Library, Path).

%!  system_names(+All)
%
%   Every predicate that module system sees, `$`-names included.

system_names(_) :-
    ask_plain("forall((predicate_property(system:H,defined), functor(H,N,A)), \
(writeq(N/A), nl))"),
    forall(unlisted(PI), ( writeq(PI), nl )).

%   What predicate_property/2 does not enumerate: it reads A:B as a goal in a module, and
%   call/N beyond 8 comes into being when it is called.

unlisted((:)/2).
unlisted(call/9).
unlisted(call/10).

%!  system_entry(+Indicator)
%
%   Loads a file with one fact for the predicate, and a rule that calls it, into user.
%   `open`: the fact became a clause of user's own predicate and the rule calls that
%   predicate. `locked`: SWI-Prolog refused the fact, dropped it, put it elsewhere or obeyed
%   it, or compiles the call to something else.

system_entry(Name/Arity) :-
    length(Arguments, Arity),
    maplist(=(a), Arguments),
    compound_or_atom(Name, Arguments, Head),
    tmp_file_stream(File, Out, [extension(pl), encoding(utf8)]),
    Options = [quoted(true), ignore_ops(true), numbervars(false)],
    format(Out, "~W .~n'dump names caller' :- ~W .~n", [Head, Options, Head, Options]),
    close(Out),
    catch(load_files(user:File, [silent(true)]), _, true),
    functor(General, Name, Arity),
    (   user_owns(General),
        predicate_property(user:General, file(File)),
        predicate_property(user:General, number_of_clauses(1)),
        calls(user:'dump names caller', General)
    ->  State = open
    ;   State = locked
    ),
    catch(delete_file(File), _, true),
    print_indicator(Name/Arity),
    format(" ~w~n", [State]).

compound_or_atom(Name, [], Name) :- !.
compound_or_atom(Name, Arguments, Head) :-
    compound_name_arguments(Head, Name, Arguments).

user_owns(Head) :-
    '$c_current_predicate'(_, user:Head),
    \+ '$get_predicate_attribute'(user:Head, imported, _).

%   calls(:Caller, +Head): the compiled body of Caller has a real call of Head's predicate.

calls(M:Caller, Head) :-
    functor(Head, Name, Arity),
    nth_clause(M:Caller, 1, Clause),
    instruction(Clause, 0, Instruction),
    compound(Instruction),
    arg(_, Instruction, Called),
    strip_module(Called, _, Name/Arity),
    !.

instruction(Clause, PC, Instruction) :-
    '$fetch_vm'(Clause, PC, Next, Fetched),
    (   Instruction = Fetched
    ;   instruction(Clause, Next, Instruction)
    ).

%!  library_entry(+Library)
%
%   Loads the library into user and compares operators, flags and hook clauses.

library_entry(Library) :-
    Spec = library(Library),
    snapshot(Before),
    catch(use_module(user:Spec), _, true),
    snapshot(After),
    changes(Before, After, Changes0),
    subtract_tolerated(Library, Changes0, Changes),
    (   \+ ( spec_file(Spec, File), source_file(File) )
    ->  Outcome = rewriting(['cannot be loaded'])
    ;   Changes \== []
    ->  Outcome = rewriting(Changes)
    ;   accepted(Library)
    ->  Outcome = accepted
    ;   Outcome = none
    ),
    report(Outcome, Library, Spec).

report(accepted, Library, Spec) :-
    spec_file(Spec, File),
    module_property(Module, file(File)),
    module_property(Module, exports(Exports0)),
    sort(Exports0, Exports),
    (   Exports == []
    ->  format("accepted ~w~n", [Library])
    ;   true
    ),
    forall(member(PI, Exports),
           ( format("accepted ~w ", [Library]), print_indicator(PI), nl )).
report(rewriting(Changes), Library, _) :-
    atomic_list_concat(Changes, ', ', Words),
    format("rewriting ~w ~w~n", [Library, Words]).
report(none, _, _).

spec_file(Spec, File) :-
    absolute_file_name(Spec, File, [file_type(prolog), access(read), file_errors(fail)]).

snapshot(snapshot(Operators, Clauses, Flags)) :-
    findall(operator(P, T, N), current_op(P, T, user:N), Operators),
    findall(clauses(M, Name, Arity, Count),
            ( member(M, [user, system]),
              hook(Name/Arity),
              functor(Head, Name, Arity),
              '$c_current_predicate'(_, M:Head),
              \+ '$get_predicate_attribute'(M:Head, imported, _),
              predicate_property(M:Head, number_of_clauses(Count)) ),
            Clauses),
    findall(flag(F, V), current_prolog_flag(F, V), Flags0),
    findall(flag(user:F, V),
            ( member(F, [double_quotes, back_quotes, rational_syntax,
                         character_escapes, generate_debug_info]),
              @(current_prolog_flag(F, V), user) ),
            Flags1),
    append(Flags0, Flags1, Flags).

hook(term_expansion/2).
hook(term_expansion/4).
hook(goal_expansion/2).
hook(goal_expansion/4).
hook(dcg_translate_rule/2).
hook(dcg_translate_rule/4).
hook(prolog_load_file/2).
hook(prolog_file_type/2).
hook(file_search_path/2).
hook(library_directory/1).
hook(exception/3).
hook(expand_query/4).
hook(expand_answer/2).
hook(message_hook/3).
hook(portray/1).

changes(snapshot(O0, C0, F0), snapshot(O, C, F), Changes) :-
    subtract(O, O0, NewOperators),
    subtract(C, C0, NewClauses),
    subtract(F, F0, NewFlags),
    (   NewOperators == [] -> W1 = [] ; W1 = ['adds operators'] ),
    findall(W, ( member(clauses(_, N, _, _), NewClauses),
                 effect(N, W) ), W2),
    findall(W, ( member(flag(Flag, _), NewFlags),
                 \+ harmless_flag(Flag),
                 format(atom(W), "sets the flag ~w", [Flag]) ), W3),
    append([W1, W2, W3], Changes0),
    list_to_set(Changes0, Changes).

effect(term_expansion,     'rewrites clauses').
effect(goal_expansion,     'rewrites goals').
effect(dcg_translate_rule, 'rewrites grammar rules').
effect(prolog_load_file,   'changes how files are loaded').
effect(prolog_file_type,   'changes how files are found').
effect(file_search_path,   'changes how files are found').
effect(library_directory,  'changes how files are found').
effect(exception,          'handles unknown names').
effect(expand_query,       'rewrites queries').
effect(expand_answer,      'rewrites answers').
effect(message_hook,       'intercepts messages').
effect(portray,            'changes how terms are printed').

%   Flags that say how things are printed or stored, and change no reading and no answer.

harmless_flag(color_term).
harmless_flag(hyperlink_term).
harmless_flag(res_keep_foreign).
harmless_flag(backtrace).
harmless_flag(backtrace_depth).
harmless_flag(backtrace_goal_depth).
harmless_flag(backtrace_show_lines).
harmless_flag(test_options).

%   debug rewrites only its own goals (debug/3, assertion/1), plunit only test blocks.

subtract_tolerated(debug, _, []) :- !.
subtract_tolerated(plunit, _, []) :- !.
subtract_tolerated(_, Changes, Changes).

%   The libraries that a rule file may name. One that turns out to change how a file reads
%   lands in rewriting.txt all the same.

accepted(aggregate).
accepted(ansi_term).
accepted(apply).
accepted(assoc).
accepted(atom).
accepted(base32).
accepted(base64).
accepted(charsio).
accepted(codesio).
accepted(ctypes).
accepted(date).
accepted('dcg/basics').
accepted('dcg/high_order').
accepted(debug).
accepted(dicts).
accepted(dif).
accepted(edinburgh).
accepted(error).
accepted(gensym).
accepted(heaps).
accepted(increval).
accepted(lists).
accepted(main).
accepted(nb_set).
accepted(occurs).
accepted(operators).
accepted(option).
accepted(optparse).
accepted(ordsets).
accepted(pairs).
accepted(plunit).
accepted(pprint).
accepted(prolog_code).
accepted(prolog_stack).
accepted(quintus).
accepted(random).
accepted(rbtrees).
accepted(readutil).
accepted(solution_sequences).
accepted(sort).
accepted(statistics).
accepted(strings).
accepted(system).
accepted(tabling).
accepted(terms).
accepted(thread).
accepted(time).
accepted(ugraphs).
accepted(url).
accepted(utf8).
accepted(varnumbers).
accepted(when).
accepted(writef).

rewriting(apply_macros).
rewriting(arithmetic).
rewriting(checklast).
rewriting(checkselect).
rewriting(chr).
rewriting('clp/bounds').
rewriting('clp/clpb').
rewriting('clp/clpfd').
rewriting('clp/clpq').
rewriting('clp/clpr').
rewriting('clp/simplex').
rewriting(clpb).
rewriting(clpfd).
rewriting(clpq).
rewriting(clpr).
rewriting(coinduction).
rewriting(csv).
rewriting(edit).
rewriting(git).
rewriting('http/html_write').
rewriting('http/http_dispatch').
rewriting('http/http_json').
rewriting('http/json').
rewriting('http/json_convert').
rewriting(isub).
rewriting(lazy_lists).
rewriting(listing).
rewriting(paxos).
rewriting(pcre).
rewriting(pengines).
rewriting(persistency).
rewriting(pldoc).
rewriting(portray_text).
rewriting(prolog_pack).
rewriting(prolog_xref).
rewriting(protobufs).
rewriting(record).
rewriting(redis).
rewriting(rewrite_term).
rewriting(sandbox).
rewriting('semweb/rdf11').
rewriting('semweb/rdf_db').
rewriting(settings).
rewriting(sgml).
rewriting(simplex).
rewriting(stomp).
rewriting(syslog).
rewriting(tables).
rewriting(test_cover).
rewriting(threadutil).
rewriting(unicode).
rewriting(wfs).
rewriting(xpath).
rewriting(yall).
