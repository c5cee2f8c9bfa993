% Names that are no Rust identifiers, or the same one: keywords, quotes, several arities, other scripts, what crepe
% uses itself.

:- dynamic type/1.
:- dynamic 'fn'/2.
:- dynamic 'a-b'/1, a_b/1, 'A b'/1.
:- dynamic 'Größe'/1, '人'/1, '人员'/1, ''/1, '1st'/1.
:- dynamic crepe/1, '__crepe_var'/1, given/1, terms/1, found0/1, p0/1, self/0, '`'/1.

type(a). type('it''s'). type("a"). type('a\nb').
'fn'(a, 'b "quoted" \\ c').
'a-b'(a). a_b(b). 'A b'(c).
'Größe'(ä). '人'('人'). '人员'('人员'). ''(''). '1st'(1).
crepe(x). '__crepe_var'(x). given(x). terms(x). found0(x). p0(x). self. '`'('`').

'struct'(Type, Fn) :- type(Type), 'fn'(Type, Fn).
'struct'(Type) :- 'struct'(Type, _).
'struct' :- 'struct'(_).
'struct' :- self, self, \+ 'fn'(self, self).

ab(X) :- 'a-b'(X).
ab(X) :- a_b(X).
ab(X) :- 'A b'(X), \+ a_b(X).
'Namen'(Größe, Мир) :- 'Größe'(Größe), '人'(Мир), \+ '人员'(Мир).
'Namen'(_1, _Self) :- ''(_1), '1st'(_Self).
crepe(Crepe, Terms) :- crepe(Crepe), '__crepe_var'(Crepe), given(Terms), terms(Terms), found0(Crepe), p0(Terms).
'`'('`', X) :- '`'(X), X == '`'.
constants('it''s', "it's", 'a\nb', 'ä', [], '[]', {}, '\\') :- self.
