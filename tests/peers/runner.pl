/*  Loads rule files into SWI-Prolog and answers goals: the SWI-Prolog half of verify.py.

    usage: swipl -q -f none runner.pl run GOALS FILE...    loads the files, runs the goals
           swipl -q -f none runner.pl read FILE...         reads the files, runs nothing

    GOALS holds one goal a line, each as a Prolog string and a dot. Output is JSON lines:
    for `run` first {"load_errors":[...]}, then for each goal {"result":true|false|[...]} or
    {"error":"..."}; for `read` {"syntax_errors":N}.
*/
:- module(runner, []).
:- use_module(library(http/json)).
:- use_module(library(lists)).
:- use_module(library(apply)).

% Builtins that this file calls must not be linked into user: SWI-Prolog lets a file redefine
% most of them, but only while user has not called them.
:- set_module(base(system)).

:- dynamic load_error/1.

:- initialization(main).

main :-
    current_prolog_flag(argv, Argv),
    go(Argv),
    halt.

go([run,Goals|Files]) :-
    load(Files, Errors),
    print_json(_{load_errors:Errors}),
    read_strings(Goals, Texts),
    forall(member(Text, Texts),
           ( answer(Text, Answer), print_json(Answer) )).
go([read|Files]) :-
    maplist(syntax_errors, Files, Counts),
    sum_list(Counts, Count),
    print_json(_{syntax_errors:Count}).

print_json(Dict) :-
    json_write_dict(current_output, Dict, [width(0)]),
    nl.

load(Files, Errors) :-
    asserta((user:message_hook(Term, error, _) :- runner:note_error(Term)), Ref),
    set_prolog_flag(verbose_load, silent),
    forall(member(File, Files),
           catch(load_files(user:File, [encoding(utf8)]), Error, note_error(Error))),
    erase(Ref),
    findall(Text, load_error(Text), Errors).

%   Always fails, so that the message is printed as well.

note_error(Term) :-
    format(string(Text), "~q", [Term]),
    assertz(load_error(Text)),
    fail.

read_strings(File, Texts) :-
    setup_call_cleanup(open(File, read, In, [encoding(utf8)]),
                       read_terms(In, Texts),
                       close(In)).

read_terms(In, Terms) :-
    read_term(In, Term, []),
    (   Term == end_of_file
    ->  Terms = []
    ;   Terms = [Term|Rest],
        read_terms(In, Rest)
    ).

%!  answer(+Text, -Answer)
%
%   A goal without named variables is true or false; else its answer is the sorted set of
%   its solutions, each value as writeq/1 writes it.

answer(Text, Answer) :-
    catch(solutions(Text, Answer), Error,
          ( format(string(E), "~q", [Error]), Answer = _{error:E} )).

solutions(Text, Answer) :-
    term_string(Goal, Text, [variable_names(Bindings0), module(user)]),
    exclude(anonymous, Bindings0, Bindings),
    findall(Dict,
            ( user:Goal,
              maplist(quoted_value, Bindings, Pairs),
              dict_pairs(Dict, _, Pairs) ),
            List),
    sort(List, Set),
    (   Bindings \== []
    ->  Answer = _{result:Set}
    ;   Set == []
    ->  Answer = _{result:false}
    ;   Answer = _{result:true}
    ).

anonymous(Name=_) :-
    sub_atom(Name, 0, 1, _, '_').

quoted_value(Name=Value, Name-Text) :-
    format(string(Text), "~q", [Value]).

syntax_errors(File, Count) :-
    setup_call_cleanup(open(File, read, In, [encoding(utf8), bom(true)]),
                       count_errors(In, 0, Count),
                       close(In)).

count_errors(In, Count0, Count) :-
    catch(read_term(In, Term, [syntax_errors(error), module(user)]), _, Failed = true),
    (   Failed == true
    ->  Count1 is Count0+1,
        (   at_end_of_stream(In)
        ->  Count = Count1
        ;   count_errors(In, Count1, Count)
        )
    ;   Term == end_of_file
    ->  Count = Count0
    ;   count_errors(In, Count0, Count)
    ).
