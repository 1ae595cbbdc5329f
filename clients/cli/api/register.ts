import type { Register } from '../commands.ts';
import { examples } from '../examples.ts';
import { type ApiOptions, requestApi } from './request.ts';

const collect = (value: string, previous: string[] = []) => [...previous, value];

/** `guildhall api METHOD /path`: any request, also one that no command is made for. */
export const register: Register = (command, context) => {
  command
    .argument('<method>', 'GET, POST, PATCH, PUT, DELETE or HEAD')
    .argument('<path>', 'agents, /agents, /public/api/v1/agents, or a whole address of the service')
    .option('-b, --body <body>', 'the body: JSON, @file, or - for the input')
    .option('-q, --query <name=value>', 'add to the query; may be repeated', collect)
    .option('-H, --header <name:value>', 'add a header; may be repeated', collect)
    .option('--page <number>', 'the page of a list')
    .option('--limit <number>', 'how many items a page has')
    .option('--all', 'every page of a list, one item a line as JSON')
    .option('-i, --include', 'print the status and the headers, too')
    .option('-o, --output <file>', 'write the body to a file; - writes it to the output, also when that is a terminal')
    .addHelpText(
      'after',
      examples([
        'guildhall api GET /health',
        'guildhall api GET agents --query status=active --query status=draft --all',
        'guildhall api PATCH /agents/ID --body \'{"name":"Support"}\'',
        'guildhall api POST /agents --body @agent.json --include',
        'jq -n \'{content: "Hello"}\' | guildhall api POST /agents/ID/messages/stream --body -',
      ]),
    )
    .action(async (method: string, path: string, options: ApiOptions) => {
      await requestApi(context(), method, path, options);
    });
};
