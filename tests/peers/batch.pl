/*  Answers goals on many small programs: the SWI-Prolog side of differential tests.

    usage: swipl -q -f none tests/peers/batch.pl < PROGRAMS > ANSWERS

    Each input line is {"program": TEXT, "tabled": ["p/1", ...], "goals": ["p(a)", ...]}; the
    last two may be missing. Each gets one output line, flushed:
    {"answers": [true|false|{"error": TEXT}, ...]} or {"load_error": TEXT}.

    A program is loaded as a file would be, into a temporary module that is destroyed
    afterwards with its tables. A goal has 2 seconds, 5 million inferences, 256 MB of stacks
    and 64 MB of tables, for terms of limited size. What a program's directives or goals do
    beyond that (I/O, clauses for other modules) is not contained.
*/
:- module(batch, []).
:- use_module(library(http/json)).
:- use_module(library(lists)).
:- use_module(library(apply)).
:- use_module(library(modules)).
:- use_module(library(readutil)).
:- use_module(library(time)).

% Programs inherit from user: what this file calls must not be linked there.
:- set_module(base(system)).

:- dynamic load_error/1.

:- multifile user:message_hook/3.
:- dynamic user:message_hook/3.

% Nothing is printed: the first error of a load is its answer.
user:message_hook(Term, Kind, _) :-
    batch:note(Kind, Term).

note(error, Term) :- !,
    (   load_error(_)
    ->  true
    ;   short(Term, Text),
        assertz(load_error(Text))
    ).
note(_, _).

seconds(2).
inferences(5_000_000).

:- initialization(main).

main :-
    set_prolog_flag(stack_limit, 256_000_000),
    set_prolog_flag(table_space, 64_000_000),
    set_prolog_flag(max_table_subgoal_size_action, error),
    set_prolog_flag(max_table_subgoal_size, 100),
    set_prolog_flag(max_table_answer_size_action, error),
    set_prolog_flag(max_table_answer_size, 100),
    set_stream(user_input, encoding(utf8)),
    set_stream(user_output, encoding(utf8)),
    serve,
    halt.

serve :-
    read_line_to_string(user_input, Line),
    (   Line == end_of_file
    ->  true
    ;   (   catch(reply(Line, Reply), Error, failed(Error, Reply))
        ->  true
        ;   Reply = _{load_error:"not a request"}
        ),
        json_write_dict(user_output, Reply, [width(0)]),
        nl(user_output),
        flush_output(user_output),
        serve
    ).

failed(Error, _{load_error:Text}) :-
    short(Error, Text).

reply(Line, Reply) :-
    atom_json_dict(Line, Request, []),
    retractall(load_error(_)),
    in_temporary_module(Module, true, answer_and_discard(Request, Module, Reply)).

answer_and_discard(Request, Module, Reply) :-
    call_cleanup(answer(Request, Module, Reply), discard(Module)).

discard(Module) :-
    abolish_all_tables,
    unload_file(Module).

answer(Request, Module, Reply) :-
    table_directive(Request, Table),
    string_concat(Table, Request.program, Program),
    load(Module, Program),
    (   load_error(Text)
    ->  Reply = _{load_error:Text}
    ;   goals(Request, Goals),
        maplist(truth(Module), Goals, Answers),
        Reply = _{answers:Answers}
    ).

%   On the first line, so that line numbers stay those of the program.

table_directive(Request, Directive) :-
    (   get_dict(tabled, Request, [First|Rest])
    ->  atomic_list_concat([First|Rest], ", ", Indicators),
        format(string(Directive), ":- table ~w. ", [Indicators])
    ;   Directive = ""
    ).

goals(Request, Goals) :-
    (   get_dict(goals, Request, Goals)
    ->  true
    ;   Goals = []
    ).

load(Module, Program) :-
    seconds(Seconds),
    setup_call_cleanup(
        open_string(Program, In),
        catch(call_with_time_limit(Seconds,
                                   load_files(Module:Module, [stream(In), silent(true)])),
              Error, note(error, Error)),
        close(In)).

truth(Module, Text, Answer) :-
    catch(holds(Module, Text, Answer), Error,
          ( short(Error, Short), Answer = _{error:Short} )).

holds(Module, Text, Answer) :-
    term_string(Goal, Text, [module(Module)]),
    seconds(Seconds),
    inferences(Inferences),
    (   call_with_time_limit(Seconds,
            call_with_inference_limit(Module:Goal, Inferences, Result))
    ->  (   Result == inference_limit_exceeded
        ->  Answer = _{error:"inference_limit_exceeded"}
        ;   Answer = true
        )
    ;   Answer = false
    ).

%   An error without its context and without the temporary module's name.

short(error(existence_error(procedure, _:Indicator), _), Text) :- !,
    format(string(Text), "~q", [existence_error(procedure, Indicator)]).
short(error(resource_error(tripwire(Limit, _)), _), Text) :- !,
    format(string(Text), "~q", [resource_error(Limit)]).
short(error(Formal, _), Text) :- !,
    format(string(Text), "~q", [Formal]).
short(Term, Text) :-
    format(string(Text), "~q", [Term]).
