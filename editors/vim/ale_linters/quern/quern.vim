" The language server for ALE: diagnostics, hover, and what else ALE takes from one.
call ale#Set('quern_executable', 'quern')

function! ale_linters#quern#quern#Root(buffer) abort
  for marker in ['quern.toml', '.git']
    let found = ale#path#FindNearestFile(a:buffer, marker)
    let found = empty(found) ? ale#path#FindNearestDirectory(a:buffer, marker) : found
    if !empty(found)
      return fnamemodify(substitute(found, '/$', '', ''), ':h')
    endif
  endfor
  return fnamemodify(bufname(a:buffer), ':p:h')
endfunction

call ale#linter#Define('quern', {
\ 'name': 'quern',
\ 'lsp': 'stdio',
\ 'executable': {buffer -> ale#Var(buffer, 'quern_executable')},
\ 'command': '%e lsp',
\ 'language': 'quern',
\ 'project_root': function('ale_linters#quern#quern#Root'),
\})
