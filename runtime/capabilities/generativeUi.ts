import type { AgentTool } from '../agent/tool.ts';
import { catalogueText } from '../generativeUi/catalogue.ts';
import { COMPONENT_TYPES } from '../generativeUi/schema.ts';
import { checkUi, MAX_DEPTH, MAX_NODES } from '../generativeUi/validate.ts';
import type { JsonSchema } from '../tools/tool.ts';
import type { Capability } from './capability.ts';

/**
 * What models are told of a tree: its root loosely, with the catalogue in words. A schema of all components would refer to itself,
 * which not every provider takes (Google: ai.google.dev/gemini-api/docs/structured-output, recursion only to a limited depth), and
 * unrolled it is thousands of tokens in each request. The whole tree is checked by `checkUi`.
 */
const SCHEMA: JsonSchema = {
  type: 'object',
  properties: {
    ui: {
      type: 'object',
      description: `The component to show: mostly a stack or a card with others in it. At most ${MAX_NODES} components, ${MAX_DEPTH} above one another. Each is an object with its type and these fields (? = may be left out), and no others:\n${catalogueText()}`,
      properties: { type: { type: 'string', enum: [...COMPONENT_TYPES] } },
      required: ['type'],
      additionalProperties: true,
    },
  },
  required: ['ui'],
  additionalProperties: false,
};

/** Shows components with the reply. */
export const generativeUiCapability = {
  name: 'generativeUi',
  forPeopleOnly: true,
  isActive: ({ snapshot }) => snapshot.genuiEnabled,
  section: () =>
    [
      '# Generative UI',
      'Call `show_ui` once, before you answer, when tables, figures, choices or a form serve the user better than sentences. The components stand below your text: keep the text short, and let it make sense without them, because some channels show text only. What a button or a form sends comes as the next message of the user.',
    ].join('\n\n'),
  tools: () => [SHOW_UI],
} satisfies Capability;

/** Shows a tree of components, or says what is wrong with it. */
const SHOW_UI: AgentTool = {
  name: 'show_ui',
  owner: null,
  description: 'Shows components with your reply, in place of those shown before it. Answer in text afterwards.',
  inputSchema: SCHEMA,
  origin: { kind: 'capability', name: 'show_ui' },
  requiresApproval: false,
  async run({ ui }, call) {
    call.signal.throwIfAborted();
    const checked = checkUi(ui);
    if ('problems' in checked) {
      const problems = checked.problems.map((problem) => `- ${problem}`).join('\n');
      return { text: `Nothing is shown, because of mistakes in ui:\n${problems}`, isError: true };
    }
    call.showUi(checked.ui);
    return { text: 'Shown with your reply. Do not repeat in the text what it shows.', isError: false };
  },
};
