" Run by `vim -S` with $QUERN and $SCRATCH: what is wrong goes to $SCRATCH/result, which is empty where all is well.
set nocompatible nomore
let &runtimepath = $EDITORS . '/vim,' . &runtimepath
filetype plugin indent on
syntax on
let g:ale_quern_executable = $QUERN
let g:ale_linters = {'quern': ['quern']}
let g:ale_lint_delay = 0
packadd ale

function! s:Group(line, column) abort
  return synIDattr(synID(a:line, a:column, 1), 'name')
endfunction

function! s:Check() abort
  edit $SCRATCH/test.relay
  call assert_equal('quern', &filetype)
  call assert_equal('// %s', &commentstring)
  call assert_equal('quernKeyword', s:Group(1, 1))
  call assert_equal('quernFunction', s:Group(1, 5))
  call assert_equal('quernVariable', s:Group(1, 12))
  call assert_equal('quernDtype', s:Group(1, 16))
  call assert_equal('quernComment', s:Group(5, 1))
  call assert_equal('quernString', s:Group(5, 38))
  normal! gg=G
  call assert_equal(['  %x + %x', '}'], getline(2, 3))
  for _ in range(300)
    let found = filter(ale#engine#GetLoclist(bufnr('')), {_, item -> item.text =~# '%missing'})
    if !empty(found)
      break
    endif
    sleep 100m
  endfor
  call assert_equal([[4, 14]], map(copy(found), {_, item -> [item.lnum, item.col]}))
  call setline(4, 'let %y = 1 + 2;')
  ALELint
  for _ in range(300)
    if empty(ale#engine#GetLoclist(bufnr('')))
      break
    endif
    sleep 100m
  endfor
  call assert_equal([], ale#engine#GetLoclist(bufnr('')))
endfunction

try
  call s:Check()
catch
  call add(v:errors, v:throwpoint . ': ' . v:exception)
endtry
call writefile(v:errors, $SCRATCH . '/result')
qall!
