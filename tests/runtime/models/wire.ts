import type { ModelProvider } from '../../../runtime/models/catalogue.ts';

/* What a request to a provider holds, the same for each wire format. */

// biome-ignore lint/suspicious/noExplicitAny: a provider's JSON, looked into freely.
type Json = any;

type Body = Record<string, unknown>;

/** The tools as they are described. */
export function toolsOf(provider: ModelProvider, body: Body): { name: string; description: string; schema: unknown }[] {
  const list = (body.tools ?? []) as Json[];
  if (provider === 'google') {
    return list.flatMap(({ functionDeclarations }) =>
      functionDeclarations.map(({ name, description, parametersJsonSchema: schema }: Json) => ({
        name,
        description,
        schema,
      })),
    );
  }
  if (provider === 'anthropic') {
    return list.map(({ name, description, input_schema: schema }) => ({ name, description, schema }));
  }
  return list.map((tool) => {
    const { name, description, parameters: schema } = provider === 'openai' ? tool : tool.function;
    return { name, description, schema };
  });
}

const blocksOf = (body: Body): Json[] =>
  ((body.messages ?? body.contents) as Json[]).flatMap(
    ({ content, parts }) => (Array.isArray(content) ? content : parts) ?? [],
  );

/** The calls in the conversation. */
export function callsOf(provider: ModelProvider, body: Body): { id: string; name: string; input: unknown }[] {
  switch (provider) {
    case 'openai':
      return (body.input as Json[])
        .filter(({ type }) => type === 'function_call')
        .map(({ call_id: id, name, arguments: args }) => ({ id, name, input: JSON.parse(args) }));
    case 'anthropic':
      return blocksOf(body)
        .filter(({ type }) => type === 'tool_use')
        .map(({ id, name, input }) => ({ id, name, input }));
    case 'google':
      return blocksOf(body).flatMap(({ functionCall: call }) =>
        call === undefined ? [] : [{ id: call.id, name: call.name, input: call.args }],
      );
    default:
      return (body.messages as Json[])
        .flatMap(({ tool_calls: calls }) => calls ?? [])
        .map(({ id, function: call }: Json) => ({ id, name: call.name, input: JSON.parse(call.arguments) }));
  }
}

/** The results in the conversation. */
export function resultsOf(provider: ModelProvider, body: Body): { id: string; text: string; isError: boolean }[] {
  switch (provider) {
    case 'openai':
      return (body.input as Json[])
        .filter(({ type }) => type === 'function_call_output')
        .map(({ call_id: id, output }) => {
          const isError = output.startsWith('{"error":');
          return { id, text: isError ? JSON.parse(output).error : output, isError };
        });
    case 'anthropic':
      return blocksOf(body)
        .filter(({ type }) => type === 'tool_result')
        .map(({ tool_use_id: id, content: text, is_error: isError = false }) => ({ id, text, isError }));
    case 'google':
      return blocksOf(body).flatMap(({ functionResponse: result }) =>
        result === undefined
          ? []
          : [
              {
                id: result.id,
                text: result.response.error ?? result.response.content,
                isError: 'error' in result.response,
              },
            ],
      );
    default:
      return (body.messages as Json[])
        .filter(({ role }) => role === 'tool')
        .map(({ tool_call_id: id, content: text }) => ({ id, text, isError: false }));
  }
}
