import { TOOL_INSTRUCTIONS } from './tools/index.ts';

/** What a model is told of the server when it connects. It is sent with each connection: every sentence must be worth its tokens. */
export const INSTRUCTIONS = `Guildhall manages the AI agents of one workspace, and the hub that resells them. Each tool is one operation of its API.

${TOOL_INSTRUCTIONS}

To talk to an agent it must be published. messages__send_message without conversationId begins a conversation; the answer has the conversationId to go on with. When it has pendingApprovals, a person decides: ask before you send "approve" or "reject".
Deletion is final: ask first. After RATE_LIMITED wait as long as it says.
The resource guildhall://guide says more, and guildhall://openapi/{tag} is the contract of one area.`;

/** The same for the server of one agent. */
export function agentInstructions(name: string): string {
  return `The tool ask sends a message to the agent "${name}" and returns its answer. Each answer has a conversation_id: send it with the next message, or the agent does not know what was said before.`;
}
