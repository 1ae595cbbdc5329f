/** What is silently wrong with an agent: it can be published and answers, but not as whoever made it expects. */
export type WarningCode =
  | 'variable_not_defined'
  | 'variables_not_filled_in'
  | 'braces_left_as_text'
  | 'model_missing'
  | 'model_not_configured'
  | 'link_switched_off'
  | 'link_target_deleted'
  | 'knowledge_source_not_ready'
  | 'mcp_server_not_connected'
  | 'mcp_tools_left_out'
  | 'sub_agent_not_published'
  | 'web_search_not_configured'
  | 'transcription_not_configured'
  | 'speech_not_configured'
  | 'tools_over_limit'
  | 'toolkit_unreachable'
  | 'fixed_prompt_large';

/** One warning. */
export interface AgentWarning {
  code: WarningCode;
  /** What it is about: the name of a variable, a link or a model; null = the agent as a whole. */
  subject: string | null;
  /** A sentence or two for people: what is wrong, and what to do. */
  message: string;
}
