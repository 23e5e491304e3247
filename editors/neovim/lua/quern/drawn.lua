-- What the server says of a text, drawn into it where Neovim does not draw it itself: inlay hints before 0.10, semantic
-- tokens before 0.9; and code lenses.
local M = {}

local space = vim.api.nvim_create_namespace('quern')
local tokens_space = vim.api.nvim_create_namespace('quern_tokens')
local delay = 150 -- milliseconds that a text stays as it is before the server is asked
local timers = {}

local draws_hints = vim.fn.has('nvim-0.10') == 0
local draws_tokens = vim.fn.has('nvim-0.9') == 0

--- In the order of the server's legend.
local groups = {
  comment = 'Comment', keyword = 'Keyword', number = 'Number', string = 'String', variable = 'Identifier',
  ['function'] = 'Function', method = 'Function', enumMember = 'Constant', type = 'Type', property = 'Identifier',
  parameter = 'Identifier', typeParameter = 'Type', macro = 'PreProc', namespace = 'Include',
}

--- The byte of a character of a line, as the client counts them.
local function byte_of(buffer, line, character, encoding)
  local text = vim.api.nvim_buf_get_lines(buffer, line, line + 1, false)[1] or ''
  if encoding == 'utf-8' then
    return math.min(character, #text)
  end
  local fine, byte = pcall(vim.str_byteindex, text, character, encoding == 'utf-16')
  return fine and byte or #text
end

local function ask(client, buffer, method, params, draw)
  local tick = vim.api.nvim_buf_get_changedtick(buffer)
  client.request(method, params, function(failure, result)
    -- An answer about an older text would stand in the wrong places.
    if failure or not result or not vim.api.nvim_buf_is_valid(buffer) then
      return
    end
    if vim.api.nvim_buf_get_changedtick(buffer) == tick then
      draw(result)
    end
  end, buffer)
end

local function label_of(hint)
  if type(hint.label) == 'string' then
    return hint.label
  end
  return table.concat(vim.tbl_map(function(part)
    return part.value
  end, hint.label))
end

--- At the ends of their lines: Neovim of that age puts no text inside of one.
local function draw_hints(client, buffer)
  local last = vim.api.nvim_buf_line_count(buffer)
  local params = {
    textDocument = vim.lsp.util.make_text_document_params(buffer),
    range = { start = { line = 0, character = 0 }, ['end'] = { line = last, character = 0 } },
  }
  ask(client, buffer, 'textDocument/inlayHint', params, function(hints)
    vim.api.nvim_buf_clear_namespace(buffer, space, 0, -1)
    local lines = {}
    for _, hint in ipairs(hints) do
      local line = hint.position.line
      local text = vim.api.nvim_buf_get_lines(buffer, line, line + 1, false)[1] or ''
      local at = byte_of(buffer, line, hint.position.character, client.offset_encoding)
      -- What a type is of is the name before it.
      local name = label_of(hint):match('^: ') and text:sub(1, at):match('[%%@]?[%w_.]+$') or ''
      lines[line] = lines[line] or {}
      table.insert(lines[line], name .. label_of(hint))
    end
    for line, labels in pairs(lines) do
      if line < vim.api.nvim_buf_line_count(buffer) then
        vim.api.nvim_buf_set_extmark(buffer, space, line, 0, {
          virt_text = { { table.concat(labels, '  '), 'Comment' } },
          virt_text_pos = 'eol',
        })
      end
    end
  end)
end

local function draw_tokens(client, buffer)
  local provider = client.server_capabilities.semanticTokensProvider
  if not provider then
    return
  end
  local params = { textDocument = vim.lsp.util.make_text_document_params(buffer) }
  ask(client, buffer, 'textDocument/semanticTokens/full', params, function(result)
    vim.api.nvim_buf_clear_namespace(buffer, tokens_space, 0, -1)
    local line, character, data = 0, 0, result.data
    for i = 1, #data, 5 do
      character = data[i] > 0 and data[i + 1] or character + data[i + 1]
      line = line + data[i]
      local group = groups[provider.legend.tokenTypes[data[i + 3] + 1]]
      if group and line < vim.api.nvim_buf_line_count(buffer) then
        local from = byte_of(buffer, line, character, client.offset_encoding)
        local to = byte_of(buffer, line, character + data[i + 2], client.offset_encoding)
        vim.api.nvim_buf_set_extmark(buffer, tokens_space, line, from, { end_col = to, hl_group = group, priority = 90 })
      end
    end
  end)
end

local function draw(client, buffer)
  if vim.lsp.client_is_stopped(client.id) or not vim.api.nvim_buf_is_valid(buffer) then
    return
  end
  if draws_hints and vim.g.quern_hints ~= 0 then
    draw_hints(client, buffer)
  end
  if draws_tokens and vim.g.quern_tokens ~= 0 then
    draw_tokens(client, buffer)
  end
  if vim.g.quern_lenses ~= 0 then
    vim.lsp.codelens.refresh()
  end
end

--- Draws soon, once for a burst of edits.
function M.soon(client, buffer)
  if timers[buffer] then
    timers[buffer]:stop()
    timers[buffer]:close()
  end
  timers[buffer] = vim.defer_fn(function()
    timers[buffer] = nil
    draw(client, buffer)
  end, delay)
end

--- Everything again, as the server asks for.
function M.refresh(client)
  for _, buffer in ipairs(vim.lsp.get_buffers_by_client_id(client.id)) do
    M.soon(client, buffer)
  end
end

--- Keeps what is drawn of a buffer up to date.
function M.attach(client, buffer)
  local group = vim.api.nvim_create_augroup('quern_drawn', { clear = false })
  vim.api.nvim_clear_autocmds({ group = group, buffer = buffer })
  vim.api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI', 'BufEnter' }, {
    group = group,
    buffer = buffer,
    callback = function()
      M.soon(client, buffer)
    end,
  })
  M.soon(client, buffer)
end

--- The texts that are drawn at the end of each line; for tests.
function M.hints(buffer)
  local found = {}
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buffer, space, 0, -1, { details = true })) do
    found[mark[2]] = mark[4].virt_text[1][1]
  end
  return found
end

--- The highlight group that a token has at a place, from 0; for tests.
function M.token_at(buffer, line, column)
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buffer, tokens_space, { line, 0 }, { line, -1 }, { details = true })) do
    if mark[3] <= column and column < mark[4].end_col then
      return mark[4].hl_group
    end
  end
end

return M
