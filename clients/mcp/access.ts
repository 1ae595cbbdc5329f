import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Guildhall } from '../sdk/index.ts';

/** How an MCP server reaches the API, for one request or for one connection. */
export interface Access {
  /** The client of the API. Rejects with CredentialMissing when there is no key. */
  api(): Promise<Guildhall>;
  /** The address of the service without the API's prefix, and without a slash at its end: `/openapi.json` is below it. */
  origin(): Promise<string>;
}

/** There is no API key to call the API with. The message says how to get one, to people and to models. */
export class CredentialMissing extends Error {
  override readonly name = 'CredentialMissing';
}

/** The result of a call without a key, in the form of the other tool errors. */
export function credentialResult({ message }: CredentialMissing): CallToolResult {
  const error = { code: 'NO_CREDENTIAL', message, next: 'Tell the person how to log in.' };
  return { isError: true, content: [{ type: 'text', text: JSON.stringify({ error }) }] };
}
