/*  Reads texts: the SWI-Prolog side of the comparison of readers.

    usage: swipl -q -f none tests/peers/read.pl < TEXTS > READINGS

    Each input line is a text as a JSON string. Each gets one output line, flushed:
    {"clauses": [[WRITTEN, STRUCTURE], ...]}, or {"error": TEXT} if any clause of the text
    cannot be read. WRITTEN is the clause as writeq/1 writes it, with variables by name.
    STRUCTURE shows what writeq/1 may hide:

        v(NAME)  nil  a(CODES)  i(DIGITS)  f(DIGITS)  s(CODES)  c(CODES,ARGUMENT,...)

    with names as hexadecimal character codes. Nothing that is read is called.
*/
:- module(read_texts, []).
:- use_module(library(http/json)).
:- use_module(library(lists)).
:- use_module(library(apply)).
:- use_module(library(readutil)).

:- initialization(main).

main :-
    set_stream(user_input, encoding(utf8)),
    set_stream(user_output, encoding(utf8)),
    serve,
    halt.

serve :-
    read_line_to_string(user_input, Line),
    (   Line == end_of_file
    ->  true
    ;   atom_json_dict(Line, Text, []),
        catch(reading(Text, Reply), Error, failure(Error, Reply)),
        json_write_dict(user_output, Reply, [width(0)]),
        nl(user_output),
        flush_output(user_output),
        serve
    ).

failure(Error, _{error: Text}) :-
    format(string(Text), "~q", [Error]).

reading(Text, _{clauses: Shown}) :-
    setup_call_cleanup(
        open_string(Text, In),
        clauses(In, Clauses),
        close(In)),
    maplist(shown, Clauses, Shown).

clauses(In, Clauses) :-
    read_term(In, Clause,
              [ variable_names(Names),
                module(user),
                syntax_errors(error)
              ]),
    (   Clause == end_of_file
    ->  Clauses = []
    ;   maplist(name_variable, Names),
        term_variables(Clause, Anonymous),
        maplist(=('$VAR'('_')), Anonymous),
        Clauses = [Clause|Rest],
        clauses(In, Rest)
    ).

name_variable(Name='$VAR'(Name)).

shown(Clause, [Written, Structure]) :-
    format(string(Written), "~q", [Clause]),
    with_output_to(string(Structure), structure(Clause)).

structure('$VAR'(Name)) :- atom(Name), !, format("v(~w)", [Name]).
structure(Term) :- Term == [], !, write(nil).
structure(Term) :- atom(Term), !, hexadecimal(Term, Codes), format("a(~w)", [Codes]).
structure(Term) :- integer(Term), !, format("i(~d)", [Term]).
structure(Term) :- float(Term), !, format("f(~q)", [Term]).
structure(Term) :- string(Term), !, hexadecimal(Term, Codes), format("s(~w)", [Codes]).
structure(Term) :- is_dict(Term), !, write(dict).
structure(Term) :-
    compound(Term), !,
    compound_name_arguments(Term, Name, Arguments),
    (   Name == []
    ->  Codes = nil
    ;   hexadecimal(Name, Codes)
    ),
    format("c(~w", [Codes]),
    forall(member(Argument, Arguments),
           ( write(','), structure(Argument) )),
    write(')').
structure(Term) :- format("other(~q)", [Term]).

hexadecimal(Name, Codes) :-
    atom_codes(Name, List),
    maplist(hexadecimal_code, List, Digits),
    atomic_list_concat(Digits, '.', Codes).

hexadecimal_code(Code, Digits) :-
    format(atom(Digits), "~16r", [Code]).
