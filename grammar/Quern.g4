// The language of Quern: the Relay text format and what Quern adds to it. One declaration or statement is
// parsed at a time; the scanner (frontend/parse/scanner.h) splits a file into them.
grammar Quern;

@lexer::members {
  public: bool slashNames = false;  // files with TVM's version header have `/`, `.`, `:` and `-` inside local names
  private: bool endsNumber() {  // `1.`, and neither `1..n` nor `1.f`
    size_t next = _input->LA(1);
    return next != '.' && next != '_' && !(next < 128 && std::isalpha(static_cast<int>(next)));
  }
}

unit : item? ';'* EOF ;

item
  : defDecl | opDecl | typeDecl | externTypeDecl | importDecl | testDecl | infixDecl | staticDecl
  | statement
  ;

// --- declarations ---------------------------------------------------------------------------------------------------
defDecl        : 'def' (GLOBAL | name) typeParams? '(' params? ')' ('->' type)? clause* bodies ;
opDecl         : 'extern'? 'op' name typeParams? '(' params? ')' '->' resultType clause* bodies? ;
resultType     : type | ('when' expr ':' type)+ 'else' type ;
typeDecl       : 'type' name typeParams? ('{' (constructor (',' constructor)* ','?)? '}' | '=' type) ;
constructor    : constructorName ('(' (constructorField (',' constructorField)* ','?)? ')')? ;
constructorName : name | 'None' ;
constructorField : (name ':')? type ;
externTypeDecl : 'extern' 'type' name typeParams? ;
importDecl     : 'import' STRING ('as' name)? ;
testDecl       : 'test' STRING block ;
infixDecl      : 'infix' STRING name ;
staticDecl     : 'static' GLOBAL '(' params? ')' ('->' kind)? block ;

typeParams : '[' name (',' name)* ','? ']' | '<' name (',' name)* ','? '>' ;
params     : param (',' param)* ','? ;
param
  : LOCAL noted? (':' type)?               # tensorParam
  | name (':' kind)? ('=' expr)?           # attributeParam
  ;
noted      : '{' name '=' expr (',' name '=' expr)* '}' ;  // TVM: `%x {virtual_device=…}: type`
kind       : name ('[' ']')* '?'? ;
clause
  : 'where' expr (':' STRING)?             # whereClause
  | 'warn' expr ':' STRING ('fix' STRING)? # warnClause
  | 'static' name '=' expr                 # staticClause
  | 'gradient' '(' params? ')' block       # gradientClause
  | 'shape' '(' params? ')' block          # shapeClause
  | 'lowering' STRING 'needs' STRING       # loweringClause
  | schedule                               # scheduleClause
  ;
bodies     : block | whenBody+ elseBody? ;
whenBody   : 'when' expr block ;
elseBody   : 'else' block ;

// --- statements and blocks ------------------------------------------------------------------------------------------
statement : bound | scheduled ;
bound
  : 'let' (LOCAL | '_' | UNDERSCORE_LOCAL) (':' type)? '=' scheduled  # letStatement
  | 'let' parts (':' type)? '=' scheduled                         # letPatternStatement
  | GRAPH '=' scheduled                                           # graphStatement
  | 'free_var' LOCAL (':' type)?                                  # freeVarStatement
  ;
block    : '{' statement? (';' statement?)* '}' ;
sequence : bound (';' statement?)+ ;  // a block without braces, as TVM has it in brackets and in arms

// --- schedules: how loops run -----------------------------------------------------------------------------------------
scheduled    : expr schedule? ;
schedule     : 'schedule' '{' scheduleStep? (';' scheduleStep)* ';'? '}' ;
scheduleStep : (name (',' name)* '=')? name '(' scheduleGroup (';' scheduleGroup)* ')' ;
scheduleGroup : (scheduleArgument (',' scheduleArgument)* ','?)? ;
scheduleArgument
  : name | LOCAL
  | scheduleNumber ('|' scheduleNumber)*
  | '?'
  ;
scheduleNumber : '-'? (INT | FLOAT) ;

// --- expressions ----------------------------------------------------------------------------------------------------
expr
  : primary                                                       # primaryExpr
  | expr '(' arguments? ')'                                       # callExpr
  | expr PROJECTION                                               # projectExpr
  | expr '.' name                                                 # fieldExpr
  | expr '[' indexItem (',' indexItem)* ','? ']'                  # indexExpr
  | op=('-' | '!') expr                                           # unaryExpr
  | <assoc=right> expr 'else' expr                                # elseExpr
  | expr op=('*' | '/' | '%') expr                                # binaryExpr
  | REDUCE binders ']' expr                                       # reduceExpr
  | 'scan[' binders ']' op=('+' | '-' | '*' | '/' | '%' | NAME) expr                # scanExpr
  | 'scatter[' binders ']' expr 'at' '(' element (',' element)* ','? ')' update expr  # scatterExpr
  | expr op=('+' | '-') expr                                      # binaryExpr
  | expr op=('<' | '<=' | '>' | '>=') expr                        # binaryExpr
  | expr op=('==' | '!=') expr                                    # binaryExpr
  | 'not' expr                                                    # notExpr
  | expr 'and' expr                                               # andExpr
  | expr 'or' expr                                                # orExpr
  | <assoc=right> expr ':=' expr                                  # assignExpr
  | '[' binders ']' '=>' expr                                     # comprehensionExpr
  ;

primary
  : 'None' typeArguments                                          # nonePrimary
  | literal                                                       # literalPrimary
  | 'meta' '[' name ']' '[' INT ']'                               # metaPrimary
  | LOCAL                                                         # localPrimary
  | GRAPH                                                         # graphPrimary
  | GLOBAL typeArguments?                                         # globalPrimary
  | name typeArguments?                                           # namePrimary
  | 'fn' typeParams? '(' params? ')' ('->' type)? block           # fnPrimary
  | 'if' '(' expr ')' block 'else' (block | primary)              # ifPrimary
  | ('match' | 'match?') expr '{' (arm (',' arm)* ','?)? '}'      # matchPrimary
  | '(' (element (',' element)* ','?)? ')'                        # tuplePrimary
  | '[' (element (',' element)* ','?)? ']'                        # listPrimary
  | block                                                         # blockPrimary
  | '?'                                                           # anyPrimary
  | '_'                                                           # holePrimary
  ;
literal : INT | FLOAT | STRING | 'True' | 'False' | 'None' ;

typeArguments : '<' typeArgument (',' typeArgument)* ','? '>' ;
typeArgument  : type | INT ;
arguments     : argument (',' argument)* ','? ;
argument      : name '=' expr | element ;
element       : '..' expr | sequence | scheduled ('for' name '<' expr ('if' expr)?)? ;
indexItem
  : '...'                                                         # ellipsisIndex
  | '..' expr                                                     # spreadIndex
  | '~' name                                                      # broadcastIndex
  | first=expr? ':' last=expr? (':' step=expr?)?                  # sliceIndex
  | expr                                                          # plainIndex
  ;
binders : binder (',' binder)* ','? ;
binder  : '..'? (name | '_') (('<' | upTo='<=') expr)? ;
update  : '=' | '+=' | '*=' | ('-' | '/' | NAME) '=' ;

arm     : pattern '=>' (sequence | scheduled) ;
pattern
  : ('_' | UNDERSCORE_LOCAL)                                      # wildcardPattern
  | LOCAL (':' type)?                                             # variablePattern
  | constructorName                                               # plainPattern
  | parts                                                         # partsPattern
  ;
parts
  : constructorName '(' (part (',' part)* ','?)? ')'              # constructorParts
  | '(' (pattern (',' pattern)* ','?)? ')'                        # tupleParts
  ;
part : (name '=')? pattern ;

// --- types ----------------------------------------------------------------------------------------------------------
type
  : '_'                                                           # holeType
  | 'Tensor' '[' expr ',' expr ']'                                # tensorType
  | '(' type 'for' name '<' expr ')'                              # familyType
  | '(' (type (',' type)* ','?)? ')'                              # tupleType
  | 'fn' typeParams? '(' (type (',' type)* ','?)? ')' '->' type   # functionType
  | 'ref' '(' type ')'                                            # refType
  | name ('[' (typePart (',' typePart)*)? ']' | '<' typeArgument (',' typeArgument)* '>')?   # namedType
  ;
typePart : type | expr ;  // a dim where the declaration says so; a name is read as a type

// Words that are keywords only where a rule above asks for them.
name
  : NAME | 'op' | 'test' | 'where' | 'when' | 'static' | 'infix' | 'as' | 'at' | 'shape' | 'gradient' | 'type'
  | 'extern' | 'import' | 'meta' | 'lowering' | 'needs' | 'schedule' | 'ref' | 'warn' | 'fix'
  ;

// --- tokens ---------------------------------------------------------------------------------------------------------
REDUCE : ('sum' | 'prod' | 'max' | 'min' | 'argmax' | 'argmin' | 'any' | 'all') '[' ;
UNDERSCORE_LOCAL : '%_' ;
LOCAL
  : '%' IDENT
  | '%' IDENT LOCAL_PART* LOCAL_END {slashNames}?
  ;
GRAPH      : '%' DIGIT+ ;
GLOBAL     : '@' IDENT ('.' IDENT)* ;
PROJECTION : '.' DIGIT+ ;
FLOAT
  : DIGIT+ '.' DIGIT+ EXPONENT? FLOAT_SUFFIX?
  | DIGIT+ '.' EXPONENT FLOAT_SUFFIX?
  | DIGIT+ '.' {endsNumber()}?
  | DIGIT+ EXPONENT FLOAT_SUFFIX?
  | DIGIT+ FLOAT_SUFFIX
  | ('inf' | 'nan') FLOAT_SUFFIX?
  ;
INT    : DIGIT+ ([iu] DIGIT*)? ;
NAME   : IDENT ('.' IDENT)* ;
STRING : '"' (~["\\\r\n] | '\\' ~[\r\n])* '"' ;
WS            : [ \t\r\n\u000B\u000C]+ -> skip ;
LINE_COMMENT  : '//' ~[\r\n]* -> skip ;
BLOCK_COMMENT : '/*' (BLOCK_COMMENT | .)*? '*/' -> skip ;
UNKNOWN       : . ;

// Digits alone after a `.` or `-` at a name's end are no part of it: `%t.0` is a projection, `%n-1` a difference.
fragment LOCAL_PART   : [.-] [A-Za-z0-9_]+ | LOCAL_END ;
fragment LOCAL_END    : [.-] DIGIT* [A-Za-z_] [A-Za-z0-9_]* | '/' [A-Za-z0-9_]+ | ':' DIGIT+ ;
fragment DIGIT        : [0-9] ;
fragment IDENT        : [A-Za-z_] [A-Za-z0-9_]* ;
fragment EXPONENT     : [eE] [+-]? DIGIT+ ;
fragment FLOAT_SUFFIX : 'f' DIGIT* ;
