autocmd BufRead,BufNewFile *.relay setfiletype quern
