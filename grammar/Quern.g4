// The language of Quern: the Relay text format and what Quern adds to it. One declaration or statement is
// parsed at a time; the scanner (frontend/parse/scanner.h) splits a file into them.
grammar Quern;

// What the tokens look like is in the lexer (frontend/parse/parser_tokens.cpp): these kinds, and the words and symbols in
// quotes below. UNKNOWN is a character that begins no token.
tokens { REDUCE, UNDERSCORE_LOCAL, LOCAL, GRAPH, GLOBAL, PROJECTION, FLOAT, INT, NAME, STRING, UNKNOWN }

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
  | 'if' '(' expr ')' block 'else' primary                        # ifPrimary
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
  | ':' expr? (':' expr?)?                                        # sliceIndex
  | expr (':' expr? (':' expr?)?)?                                # plainIndex
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
  | '(' ')'                                                       # unitType
  | '(' type ('for' name '<' expr | (',' type)* ','?) ')'         # tupleType
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
