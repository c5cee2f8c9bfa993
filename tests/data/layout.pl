

%  The header stays as it is.
%     - also its inner blanks   
:-   module( m ,[may/2 , role/2]) .
:-dynamic role/2,blocked/1.
:- dynamic
  one/1, two/2.
:- dynamic a_long_name_of_a_predicate/1, another_long_name_of_a_predicate/2, a_third_long_name/3.
:- dynamic d/1, % why
  e/1.
:- use_module(library(lists)).   % a remark



role('ann',dev). % first
role('U:Qa' ,   "ops").
role(robert,[a,b|T]) .   % second
% a comment in the block
role( 'dynamic', 0'a ).

role(x, y).
p(1_000_000, 0x1F, 1.5e3, 'don''t', 'caf\u00e9', 'x\
y').
single(a). single(bcd). /* before */ single(e). /* behind */
wide('a name that is much wider than forty columns', b).
wide(short, b).
nothing.

may(U,T):-role(U,R),gives(R,T),\+blocked(U).
may(U, T) :- % why
    /* inline */ role(U, R)   % the role
    , gives(R, T),

    % a paragraph
    \+ ( blocked(U), \+excused(U) )
    /* behind the last */ .
may(U,T) :- ( role(U,dev)->T=a;T=b ).
may(U,T) :- ( role(U,dev),known(U),fine(U)->T=a;role(U,ops)->T=b,some(T);fail ), rest(U).
may(U,T) :- role(U,dev),T=a ; role(U,ops),T=b,more(U,T).
may(U,T) :- a(U);b(T).
may(U,T) :- role(U,_),\+ ( blocked(U) ; blocked(T) ; blocked_for_a_very_long_reason_indeed(U,T,everything) ), \+ \+ known(T).
may(U,T) :- ( % first
   a(U) % one
 ; % second
   b(T) /* two */ ; c
   % last
 ).
may(U,T):-X is U+1*(T-2)mod 3-max(U-1,-1),Y=k-V,X<Y-1,Z= -1,W= - 1,V= -X,m:g(U),A- -1=B,name/2=C,2**3=:=D^2,(a,b)=E,-(1)=F,- (1)=G,a- (b:-c)=H.
may(U,T) :- findall(X,(a(X),b(X)),L),member(U,L),L=[
   a, % first
   b
  ],
  call(f( a,
   b )),
  T=g(a_long_argument_that_fills_the_line,another_long_argument_that_fills_the_line,
     a_third_long_argument_that_fills_the_line).
dcg --> [x],!,{y, z},"s".
single => sided, rule.
?- not_a_rule.
f(/* empty */ a /* arg */, % line
  b).
g([ /* nothing */ ], [ ], { }, {a}, - , (a:-b), (:-), [-], [a|b]).
last % before the dot
.
% The end.
