/*  Runs the tests of many small programs with plunit: the SWI-Prolog side of `horngate test`.

    usage: swipl -q -f none tests/peers/plunit.pl < PROGRAMS > VERDICTS

    Each input line is {"program": TEXT, "unit": NAME, "tests": ["name", ...]}. Each gets one output
    line, flushed: {"verdicts": [true|false|{"error": TEXT}, ...]} or {"load_error": TEXT}. An error
    is one of Prolog's limits (stack, time), so that there is no verdict.

    A program is loaded as a file would be. It should have a module and a test unit of its own, since
    all stay loaded.
*/
:- module(peer_plunit, []).
:- use_module(library(http/json)).
:- use_module(library(lists)).
:- use_module(library(apply)).
:- use_module(library(occurs)).
:- use_module(library(plunit)).
:- use_module(library(readutil)).
:- use_module(library(time)).

:- dynamic load_error/1, limit/1.

:- multifile user:message_hook/3.
:- dynamic user:message_hook/3.

% Nothing is printed: the first error of a load is its answer.
user:message_hook(Term, Kind, _) :-
    peer_plunit:note(Kind, Term).

note(error, Term) :-
    message(Term),
    !.
note(_, _).

message(Term) :-
    sub_term(Found, Term),
    nonvar(Found),
    (   Found = resource_error(Limit)
    ;   Found == time_limit_exceeded,
        Limit = time
    ),
    !,
    assertz(limit(Limit)).
message(plunit(_)) :- !.
message(Term) :-
    format(string(Text), "~q", [Term]),
    assertz(load_error(Text)).

% As the main goal: signals, and so time limits, wait for the end of a load.
:- initialization(main, main).

main :-
    set_prolog_flag(stack_limit, 32_000_000),
    set_stream(user_input, encoding(utf8)),
    set_stream(user_output, encoding(utf8)),
    set_test_options([silent(true)]),
    serve,
    halt.

serve :-
    read_line_to_string(user_input, Line),
    (   Line == end_of_file
    ->  true
    ;   atom_json_dict(Line, Request, []),
        retractall(load_error(_)),
        reply(Request, Reply),
        json_write_dict(user_output, Reply, [width(0)]),
        nl(user_output),
        flush_output(user_output),
        serve
    ).

reply(Request, Reply) :-
    atom_string(Unit, Request.unit),
    setup_call_cleanup(
        open_string(Request.program, In),
        load_files(Unit, [stream(In), silent(true)]),
        close(In)),
    (   load_error(Text)
    ->  Reply = _{load_error:Text}
    ;   maplist(verdict(Unit), Request.tests, Verdicts),
        Reply = _{verdicts:Verdicts}
    ).

verdict(Unit, Text, Verdict) :-
    atom_string(Test, Text),
    retractall(limit(_)),
    (   catch(call_with_time_limit(2, run_tests(Unit:Test)), Error, (note(error, Error), fail))
    ->  Verdict = true
    ;   limit(Limit)
    ->  format(string(Shown), "~q", [Limit]),
        Verdict = _{error:Shown}
    ;   Verdict = false
    ).
