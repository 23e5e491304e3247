" Comments, indentation and commands of Quern's files.
if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1

setlocal comments=s1:/*,mb:*,ex:*/,:///,://
setlocal commentstring=//\ %s
setlocal formatoptions-=t formatoptions+=croql
setlocal expandtab shiftwidth=2 softtabstop=2
setlocal suffixesadd=.relay
setlocal iskeyword=@,48-57,_

" Runs the file, after writing it.
command! -buffer QuernRun update | execute '!' . shellescape(get(g:, 'quern_executable', 'quern'), 1) . ' run %:p:S'

let b:undo_ftplugin = 'setlocal comments< commentstring< formatoptions< expandtab< shiftwidth< softtabstop<'
      \ . ' suffixesadd< iskeyword< | delcommand QuernRun'
