" A line is indented by the brackets that the lines above leave open.
if exists('b:did_indent')
  finish
endif
let b:did_indent = 1

setlocal indentexpr=QuernIndent(v:lnum)
setlocal indentkeys=0{,0},0),0],!^F,o,O
let b:undo_indent = 'setlocal indentexpr< indentkeys<'

if exists('*QuernIndent')
  finish
endif

" How many brackets the line opens and leaves open, without those in strings and comments.
function! s:Opened(line) abort
  let code = substitute(a:line, '"\%(\\.\|[^"\\]\)*"', '', 'g')
  let code = substitute(code, '//.*$\|/\*.\{-}\*/', '', 'g')
  let open = 0
  let least = 0
  for char in split(code, '\zs')
    if char =~# '[{(\[]'
      let open += 1
    elseif char =~# '[})\]]'
      let open -= 1
      let least = min([least, open])
    endif
  endfor
  return open - least
endfunction

function! QuernIndent(lnum) abort
  let above = prevnonblank(a:lnum - 1)
  if above == 0
    return 0
  endif
  let indent = indent(above)
  if s:Opened(getline(above)) > 0
    let indent += shiftwidth()
  endif
  if getline(a:lnum) =~# '^\s*[})\]]'
    let indent -= shiftwidth()
  endif
  return max([indent, 0])
endfunction
