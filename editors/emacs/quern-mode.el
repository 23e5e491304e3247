;;; quern-mode.el --- The tensor language Quern and the Relay text format  -*- lexical-binding: t -*-

;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1"))
;; Keywords: languages
;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Highlighting, indentation and comments for `.relay' files, and the language server `quern lsp' by Eglot:
;;
;;   (add-to-list 'load-path "…/editors/emacs")
;;   (require 'quern-mode)
;;   (add-hook 'quern-mode-hook #'eglot-ensure)

;;; Code:

(require 'pcase)
(require 'seq)
(require 'subr-x)
(require 'url-util)

(defgroup quern nil
  "The tensor language Quern."
  :group 'languages)

(defcustom quern-program "quern"
  "The program: a name that is looked for in `exec-path', or a path."
  :type 'string)

(defcustom quern-indent-offset 2
  "How far what is in brackets is indented."
  :type 'integer
  :safe #'integerp)

(defconst quern-stages
  '("ast" "typed" "effects" "gradient" "fuse" "fused" "bytecode" "plan" "schedule" "loops" "llvm" "asm")
  "The stages of compilation that `quern-show-ir' offers.")

(defvar quern-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?_ "_" table)
    (modify-syntax-entry ?. "_" table)
    (modify-syntax-entry ?% "'" table)
    (modify-syntax-entry ?@ "'" table)
    (modify-syntax-entry ?\" "\"" table)
    (modify-syntax-entry ?/ ". 124" table)
    (modify-syntax-entry ?* ". 23bn" table)
    (modify-syntax-entry ?\n ">" table)
    (dolist (operator '(?+ ?- ?= ?< ?> ?! ?~ ?| ??))
      (modify-syntax-entry operator "." table))
    table)
  "Comments are `//' and nested `/* */'.")

(defconst quern-font-lock-keywords
  (let ((name "[[:alpha:]_][[:alnum:]_]*\\(?:\\.[[:alpha:]_][[:alnum:]_]*\\)*"))
    `((,(concat "\\_<def\\s-+\\(@?" name "\\)") 1 font-lock-function-name-face)
      (,(concat "\\_<op\\_>\\s-+\\(" name "\\)") 1 font-lock-function-name-face)
      (,(concat "\\_<type\\_>\\s-+\\(" name "\\)") 1 font-lock-type-face)
      ("\\_<\\(?:let\\|def\\|fn\\|free_var\\|if\\|else\\|match\\|for\\|and\\|or\\|not\\)\\_>"
       . font-lock-keyword-face)
      ;; Words that are names elsewhere.
      ("\\_<\\(op\\|type\\|extern\\|static\\)\\s-+[@[:alpha:]_]" 1 font-lock-keyword-face)
      ("\\_<\\(import\\|test\\|infix\\|lowering\\|needs\\|fix\\)\\s-*\"" 1 font-lock-keyword-face)
      ("\"\\s-+\\(as\\)\\_>" 1 font-lock-keyword-face)
      ("\\_<\\(where\\|when\\|warn\\)\\_>\\s-+[^=:,) ]" 1 font-lock-keyword-face)
      ("\\_<\\(schedule\\)\\s-*{" 1 font-lock-keyword-face)
      ("\\_<\\(sum\\|prod\\|max\\|min\\|argmax\\|argmin\\|any\\|all\\|scan\\|scatter\\)\\["
       1 font-lock-builtin-face)
      ("\\_<\\(?:True\\|False\\|None\\)\\_>" . font-lock-constant-face)
      ("\\_<\\(?:\\(?:u?int\\(?:8\\|16\\|32\\|64\\)\\|float\\(?:16\\|32\\|64\\)\\|bfloat16\\|bool\\)\\(?:x[0-9]+\\)?\\)\\_>"
       . font-lock-type-face)
      ("^#\\[[^]\n]*\\]" . font-lock-preprocessor-face)
      ("%\\(?:[[:alpha:]_][[:alnum:]_]*\\|[0-9]+\\)" . font-lock-variable-name-face)
      (,(concat "@" name) . font-lock-function-name-face)
      ("\\_<[A-Z][[:alnum:]_]*\\_>" . font-lock-type-face)))
  "What of a text is shown in which face.")

(defun quern-indent-line ()
  "Indent the line by the brackets that are open before it."
  (interactive)
  (let* ((opening (save-excursion (back-to-indentation) (nth 1 (syntax-ppss))))
         (inside (save-excursion (nth 8 (syntax-ppss (line-beginning-position)))))
         (closes (save-excursion (back-to-indentation) (looking-at-p "[])}]")))
         (column (if (not opening)
                     0
                   (+ (save-excursion (goto-char opening) (current-indentation))
                      (if closes 0 quern-indent-offset)))))
    (unless inside
      (if (<= (current-column) (current-indentation))
          (indent-line-to column)
        (save-excursion (indent-line-to column))))))

(defun quern-run ()
  "Save the file and run it."
  (interactive)
  (save-buffer)
  (compile (mapconcat #'shell-quote-argument (list quern-program "run" buffer-file-name) " ")))

(declare-function eglot-current-server "eglot")
(declare-function eglot--signal-textDocument/didChange "eglot")
(declare-function jsonrpc-async-request "jsonrpc")
(declare-function eglot--pos-to-lsp-position "eglot")

(defun quern--uri ()
  "The URI of the buffer's file."
  (concat "file://" (url-hexify-string buffer-file-name url-path-allowed-chars)))

(defun quern--server ()
  "The language server of the buffer; an error where there is none."
  (or (and (fboundp 'eglot-current-server) (eglot-current-server))
      (user-error "The language server does not run: M-x eglot")))

(defvar-local quern--shown nil
  "Buffers that show what this text becomes, with stage and definition.")
(defvar-local quern--timer nil
  "Renews them once the text stays as it is.")

(defun quern--fill (buffer text)
  "Show TEXT in BUFFER; point stays on its line."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (let ((inhibit-read-only t)
            (line (line-number-at-pos)))
        (erase-buffer)
        (insert text)
        (goto-char (point-min))
        (forward-line (1- line))))))

(defun quern--renew-ir ()
  "Ask the server what the text becomes, for each buffer that shows it."
  (setq quern--shown (seq-filter (lambda (entry) (buffer-live-p (car entry))) quern--shown))
  (when-let ((server (and quern--shown (eglot-current-server))))
    ;; What Eglot keeps back until Emacs is idle belongs to the text.
    (eglot--signal-textDocument/didChange)
    (pcase-dolist (`(,buffer ,stage ,name) quern--shown)
      (jsonrpc-async-request
       server :quern/ir
       `(:uri ,(quern--uri) :stage ,stage ,@(and name (list :function name)))
       :timeout 60
       :success-fn (lambda (result) (quern--fill buffer (plist-get result :text)))
       ;; An edit that overtakes a request has one of its own.
       :error-fn (lambda (failure)
                   (unless (eq (plist-get failure :code) -32802)
                     (quern--fill buffer (replace-regexp-in-string "^" "// " (plist-get failure :message)))))))))

(defun quern--renew-ir-soon (&rest _)
  "Renew what shows the text when it stays as it is."
  (when quern--timer (cancel-timer quern--timer))
  (setq quern--timer
        (run-with-timer 0.4 nil
                        (lambda (source)
                          (when (buffer-live-p source)
                            (with-current-buffer source (quern--renew-ir))))
                        (current-buffer))))

(defun quern-show-ir (stage &optional name)
  "Show what the text becomes at STAGE of compilation, beside it.
It follows the text until its buffer is killed.
NAME is a definition such as \"@f\"; without one, of all statements."
  (interactive
   (list (completing-read "Stage: " quern-stages nil nil nil nil "typed")
         (read-string "Definition (empty for all statements): " nil nil "")))
  (quern--server)
  (let* ((name (and name (not (string-empty-p name)) name))
         (shown (get-buffer-create (format "*quern %s %s%s*" (buffer-name) stage (if name (concat " " name) "")))))
    (with-current-buffer shown
      (unless (member stage '("ast" "bytecode" "plan" "llvm" "asm")) (quern-mode))
      (setq truncate-lines t)
      (view-mode 1))
    (setf (alist-get shown quern--shown) (list stage name))
    (add-hook 'after-change-functions #'quern--renew-ir-soon nil t)
    (quern--renew-ir)
    (display-buffer shown '(display-buffer-in-side-window (side . right) (window-width . 0.5)))
    shown))

(defun quern-evaluate (begin end)
  "Evaluate the region or, without one, the `// >>>' or the statement of the line.
The server does that in a process of its own."
  (interactive (if (use-region-p) (list (region-beginning) (region-end)) (list (point) (point))))
  (jsonrpc-async-request
   (quern--server) :workspace/executeCommand
   (list :command "quern.evaluate"
         :arguments (vector (list :uri (quern--uri)
                                  :range (list :start (eglot--pos-to-lsp-position begin)
                                               :end (eglot--pos-to-lsp-position end)))))
   :timeout 3600
   :success-fn (lambda (result)
                 (dolist (part (append (plist-get result :problems) (plist-get result :parts) nil))
                   (let ((failure (plist-get part :failure)))
                     (message "%s" (or (plist-get part :message)
                                       (plist-get failure :message)
                                       (format "%s: %s" (plist-get part :text) (plist-get part :type)))))))
   :error-fn (lambda (failure) (message "%s" (plist-get failure :message)))))

(defvar quern-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c C-c") #'quern-run)
    (define-key map (kbd "C-c C-e") #'quern-evaluate)
    (define-key map (kbd "C-c C-s") #'quern-show-ir)
    map))

;;;###autoload
(define-derived-mode quern-mode prog-mode "Quern"
  "Texts of Quern and of Relay."
  (setq-local comment-start "// "
              comment-end ""
              comment-start-skip "\\(?://+\\|/\\*+\\)\\s-*"
              indent-line-function #'quern-indent-line
              indent-tabs-mode nil
              electric-indent-chars (append "{}[]()" electric-indent-chars)
              font-lock-defaults '(quern-font-lock-keywords)
              parse-sexp-ignore-comments t))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.relay\\'" . quern-mode))

(defvar eglot-server-programs)
(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs
               `(quern-mode . ,(lambda (&rest _) (list quern-program "lsp")))))

(provide 'quern-mode)
;;; quern-mode.el ends here
