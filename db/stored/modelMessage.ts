/** A value of JSON. */
export type StoredJson = null | string | number | boolean | readonly StoredJson[] | StoredJsonObject;

/** An object of JSON. */
export type StoredJsonObject = { readonly [key: string]: StoredJson | undefined };

/** A part of what a model said. `providerOptions` is the provider's own and means something to the same model only. */
export type StoredAssistantPart =
  | { type: 'text' | 'reasoning'; text: string; providerOptions?: StoredProviderOptions }
  | {
      type: 'tool-call';
      toolCallId: string;
      toolName: string;
      input: unknown;
      providerOptions?: StoredProviderOptions;
    };

type StoredProviderOptions = Record<string, StoredJsonObject>;

/** The result of a call, as the model read it. */
export interface StoredToolResult {
  toolCallId: string;
  toolName: string;
  text: string;
  isError: boolean;
}

/** A message of a turn between the message that is answered and the reply: calls of tools, or their results. */
export type StoredMessage =
  | { role: 'assistant'; content: string | readonly StoredAssistantPart[] }
  | { role: 'tool'; content: readonly StoredToolResult[] };
