import { catalogueText } from '../generativeUi/catalogue.ts';
import { checkUi, MAX_UI_DEPTH, MAX_UI_NODES } from '../generativeUi/validate.ts';
import type { JsonSchema } from '../tools/tool.ts';
import type { Capability } from './capability.ts';
import { errorOutput, textOutput } from './output.ts';
import { ownTool } from './ownTool.ts';

/**
 * The schema that models see: only the root of the tree is typed, and the description lists all components. A full schema would refer
 * to itself. Not every provider accepts that (Google allows recursion only to a limited depth:
 * ai.google.dev/gemini-api/docs/structured-output), and without recursion it would cost thousands of tokens in each request. `checkUi`
 * checks the whole tree.
 */
const SCHEMA: JsonSchema = {
  type: 'object',
  properties: {
    ui: {
      type: 'object',
      description: `Mostly a stack or card of others. Each is {type, fields}; ?: optional; text unless said. At most ${MAX_UI_NODES}, ${MAX_UI_DEPTH} deep.\n${catalogueText()}`,
      properties: { type: { type: 'string' } },
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
const SHOW_UI = ownTool({
  name: 'show_ui',
  description: 'Shows components with your reply, in place of those before it. Then answer in text.',
  inputSchema: SCHEMA,
  run({ ui }, { showUi }) {
    const checked = checkUi(ui);
    if ('problems' in checked) {
      const problems = checked.problems.map((problem) => `- ${problem}`).join('\n');
      return errorOutput(`Nothing is shown, because of mistakes in ui:\n${problems}`);
    }
    showUi(checked.ui);
    return textOutput('Shown with your reply. Do not repeat in the text what it shows.');
  },
});
