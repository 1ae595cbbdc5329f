import { AREAS } from '../../../generated/areas.ts';
import { API_VERSION } from '../../../generated/calls.ts';
import type { GuidePlace } from '../mcp/targets.ts';
import { sealed } from './seal.ts';

const DESCRIPTION =
  'Build and run AI agents on Guildhall: create, configure, publish and talk to agents, give them knowledge, skills, tools, automations and channels, and sell them through a hub. Use when the user mentions Guildhall, the guildhall command, its agents or its hub.';

/** What a coding agent needs to know to work with Guildhall. Every sentence must be worth its tokens. */
export const GUIDE_TEXT = `# Guildhall

Guildhall builds AI agents and sells them through a branded hub. An API key belongs to one workspace; everything that it sees is of that workspace.

## Ways in

- MCP tools, when the server \`guildhall\` is connected: \`<area>__<operation>\`, such as \`agents__list_agents\`.
- The command line: \`guildhall AREA VERB\`, such as \`guildhall agents list --status active\`. \`guildhall AREA --help\` lists verbs, \`guildhall AREA VERB --help\` the flags. In a pipe, stdout is JSON (\`--json\` makes errors JSON, too); messages go to stderr.
- Anything else: \`guildhall api METHOD /path --body @file.json\`.

Log in once: \`guildhall auth login\`. The person pastes the key; never ask for a key in a conversation, and never write one into a file. \`guildhall auth whoami\` tells the workspace. When something does not connect: \`guildhall mcp status\`.

## Build an agent

1. \`agents create\`, then \`agent-prompt update\` and \`agent-model update\` (\`ai-models list\` has the models).
2. Make things in the workspace, then link them: \`knowledge\` → \`agent-knowledge link\`; in the same way \`skills\`, \`http-tools\`, \`external-mcps\`, and other agents as \`sub-agents\`. Knowledge counts when its status is ready.
3. \`agent-features update\` switches capabilities on.
4. \`agents publish\`. Mend what its \`Warnings:\` name, or tell the user. Then try it: \`guildhall agents chat ID "Hello" --test\` prints the answer.

Upload files: \`guildhall knowledge upload 'docs/**/*.md' --wait --agent ID\`; \`guildhall skills upload FOLDER\` (or a ZIP, or a SKILL.md); \`guildhall hub upload-logo FILE --type icon\`.

## Agents as code

For agents kept in version control: \`guildhall pull\` writes them as files, \`guildhall plan\` shows what would change, \`guildhall apply\` does it and publishes. The lock file maps names to ids; commit it. Nothing is deleted without \`--prune\`. Prefer this to single commands when the folder has a \`guildhall.yaml\`.

## Rules

- Changes of an agent (prompt, model, features, links, variables) are a draft. People get them after \`agents publish\`; ask before you publish an agent that is in use.
- Deleting is final. Ask the person first, and name what goes. Commands ask for \`--yes\`: pass it only after that.
- Secrets are references in files (\`env:NAME\`, \`file:path\`), never values. The API does not give stored secrets back.
- Get ids (UUIDs) from list commands; never guess one. Lists have pages: \`--all\` walks them.
- A reply with \`pendingApprovals\` waits for the person's decision. Do not approve on your own.
- After 429 wait as long as it says. Do not repeat another 4xx unchanged: \`details\` names the fields to mend.

Exit codes: 0 done; 1 service or network; 2 usage and other 4xx; 3 not found; 4 no login, or refused; 5 conflict; 6 \`plan --exit-code\` found changes.

## Areas

${AREAS}
`;

/** The guide as the place wants it: with the head that its reader knows, and the seal. */
export function guideFile(kind: GuidePlace['kind']): string {
  const heads: Record<GuidePlace['kind'], string[]> = {
    // https://agentskills.io/specification
    skill: ['name: guildhall', `description: ${JSON.stringify(DESCRIPTION)}`],
    // https://cursor.com/docs/context/rules: with a description alone, the agent decides when to read it.
    'cursor-rule': [`description: ${JSON.stringify(DESCRIPTION)}`, 'alwaysApply: false'],
    // https://code.visualstudio.com/docs/agent-customization/custom-instructions: without applyTo, the same.
    'vscode-instructions': ['name: Guildhall', `description: ${JSON.stringify(DESCRIPTION)}`],
  };
  return sealed(`---\n${heads[kind].join('\n')}\n---\n\n${GUIDE_TEXT}\n`, API_VERSION);
}
