" The Relay text format and what Quern adds to it; for Vim and Neovim.
if exists('b:current_syntax')
  finish
endif

syntax case match
syntax sync minlines=200

syntax match quernOperator "[-+*/%=<>!~|]\|:="
syntax match quernName "\<\h\w*\%(\.\h\w*\)*\>"
syntax match quernCall "\<\h\w*\%(\.\h\w*\)*\ze\s*("
syntax match quernType "\<\u\w*\>"
syntax match quernAttribute "\<\h\w*\ze\s*=[=>]\@!"
syntax match quernDtype "\<\%(u\=int\%(8\|16\|32\|64\)\|float\%(16\|32\|64\)\|bfloat16\|bool\)\%(x\d\+\)\=\>"
syntax match quernKind ":\s*\zs\%(int\|float\|string\|dtype\|dim\|shape\)\>"

syntax keyword quernConditional if else match
syntax keyword quernRepeat for
syntax keyword quernKeyword let def fn free_var
syntax keyword quernLogical and or not
syntax keyword quernConstant True False None
" Words that are names elsewhere.
syntax match quernKeyword "\<\%(op\|type\)\ze\s\+\h"
syntax match quernKeyword "\<extern\ze\s\+\%(op\|type\)\>"
syntax match quernKeyword "\<static\ze\s\+[@[:alpha:]_]"
syntax match quernKeyword "\<\%(test\|infix\|lowering\|needs\|fix\)\ze\s*\""
syntax match quernInclude "\<import\ze\s*\""
syntax match quernInclude "\"\s*\zs\<as\>\ze\s\+\h"
syntax match quernClause "\<\%(where\|when\|warn\)\ze\s\+[^=:,)]"
syntax match quernClause "\<schedule\ze\s*{"
syntax match quernReduction "\<\%(sum\|prod\|max\|min\|argmax\|argmin\|any\|all\|scan\|scatter\)\ze\["

syntax match quernVariable "%\%(\h\w*\|\d\+\)"
syntax match quernFunction "@\h\w*\%(\.\h\w*\)*"
syntax match quernNumber "\<\d\+\%([iu]\d*\)\=\>"
syntax match quernFloat "\<\d\+\.\d\+\%([eE][-+]\=\d\+\)\=\%(f\d*\)\=\>"
syntax match quernFloat "\<\d\+\%([eE][-+]\=\d\+\%(f\d*\)\=\|f\d*\)\>"
syntax match quernFloat "\<\%(inf\|nan\)\%(f\d*\)\=\>"
syntax match quernArrow "=>\|->"

syntax match quernEscape "\\." contained
syntax match quernPlaceholder "{[^"{}]*[%@][^"{}]*}" contained
syntax region quernString start=+"+ skip=+\\.+ end=+"+ oneline contains=quernEscape,quernPlaceholder
syntax match quernComment "//.*$" contains=quernTodo,@Spell
syntax match quernDoc "///.*$" contains=@Spell
syntax region quernComment start="/\*" end="\*/" contains=quernComment,quernTodo,@Spell
syntax keyword quernTodo TODO FIXME XXX contained
syntax match quernDirective "^#\[version\s*=\s*\"[^"]*\"\]"
syntax region quernMetadata matchgroup=quernDirective start="^#\[metadata\]" end="\%$"

highlight default link quernArrow Operator
highlight default link quernAttribute Identifier
highlight default link quernCall Function
highlight default link quernClause Statement
highlight default link quernComment Comment
highlight default link quernConditional Conditional
highlight default link quernConstant Constant
highlight default link quernDirective PreProc
highlight default link quernDoc SpecialComment
highlight default link quernDtype Type
highlight default link quernEscape SpecialChar
highlight default link quernFloat Float
highlight default link quernFunction Function
highlight default link quernInclude Include
highlight default link quernKeyword Keyword
highlight default link quernKind Type
highlight default link quernLogical Operator
highlight default link quernMetadata Comment
highlight default link quernNumber Number
highlight default link quernOperator Operator
highlight default link quernPlaceholder Special
highlight default link quernReduction Statement
highlight default link quernRepeat Repeat
highlight default link quernString String
highlight default link quernTodo Todo
highlight default link quernType Type
highlight default link quernVariable Identifier

let b:current_syntax = 'quern'
