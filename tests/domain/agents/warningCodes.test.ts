import type { WarningCode } from '../../../domain/agents/check/warning.ts';
import document from '../../../generated/openapi.json' with { type: 'json' };

/** Every code, or this does not compile. */
const CODES: Record<WarningCode, true> = {
  variable_not_defined: true,
  variables_not_filled_in: true,
  braces_left_as_text: true,
  model_missing: true,
  model_not_configured: true,
  link_switched_off: true,
  link_target_deleted: true,
  knowledge_source_not_ready: true,
  mcp_server_not_connected: true,
  mcp_tools_left_out: true,
  sub_agent_not_published: true,
  web_search_not_configured: true,
  transcription_not_configured: true,
  speech_not_configured: true,
  tools_over_limit: true,
  toolkit_unreachable: true,
  fixed_prompt_large: true,
};

test('the document names the codes of the warnings, and no others', () => {
  const named = document.components.headers.AgentWarnings.description.match(/`[a-z]+(?:_[a-z]+)+`/g) ?? [];
  expect(named.map((code) => code.slice(1, -1)).sort()).toEqual(Object.keys(CODES).sort());
});
