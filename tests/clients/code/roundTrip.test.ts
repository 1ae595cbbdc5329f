import type { JsonObject } from '../../../clients/code/json.ts';
import { type CodeFolder, useCodeFolders } from '../../support/clients/codeFolder.ts';
import { useModelApp } from '../../support/http/modelApp.ts';
import { startMcpServer, type TestMcpServer, useCertificate } from '../../support/servers/mcp.ts';
import { connectBuiltin } from '../../support/tools/toolkits.ts';

const certificate = useCertificate();
const here = useModelApp({ tools: true });
const newFolder = useCodeFolders(() => here.app);
const env = {
  Z_API_INSTANCE_TOKEN: 'instance-token',
  Z_API_CLIENT_TOKEN: 'client-token',
  TOOL_LOOKUP_TOKEN: 'tool-token',
};

let mcp: TestMcpServer;
beforeAll(async () => {
  mcp = await startMcpServer(certificate);
  for (const workspace of [here.app.workspace, here.app.stranger])
    await connectBuiltin(workspace, 'calculator', 'Sums');
});
afterAll(async () => {
  await mcp.close();
});

/** An agent with everything that an agent can have, with what it is made of. */
function wholeWorkspace(): Record<string, string> {
  return {
    'guildhall.yaml': 'formatVersion: 1\n',
    'agents/support/agent.yaml': `name: "Support: 24/7"
description: "Helps.\\nAlways."
avatarUrl: https://example.com/a.png
categories: [shop, b2b]
model: openai/gpt-4.1
temperature: 0.4
webSearchEnabled: true
sandboxEnabled: true
genuiEnabled: true
dynamicPromptEnabled: true
audioListeningEnabled: true
audioResponseEnabled: true
ttsVoice: alloy
longTermMemoryEnabled: true
memoryCustomInstructions: "  What they like.\\n\\tAnd not. "
messageDelayEnabled: true
messageDelayType: LOW
messageSplittingEnabled: true
followUpEnabled: true
followUpAfterHours: 2
followUpInactivityMinutes: 30
followUpIntervalMinutes: 60
followUpMaxAttempts: 3
followUpBusinessHoursStart: 09:00
followUpBusinessHoursEnd: "17:30:00"
followUpPrompt: Ask again.
variables:
  - {name: zeta, label: Zeta, type: text_short, defaultValue: "no", description: First., required: true}
  - {name: alpha, label: Alpha, type: text_long}
  - {name: count, label: Count, type: number, defaultValue: 0}
  - {name: day, label: Day, type: date, defaultValue: 2026-01-01}
  - {name: vip, label: VIP, type: bool, defaultValue: false, booleanTextWhenTrue: "Yes", booleanTextWhenFalse: "off"}
  - {name: size, label: Size, type: single_choice, options: [{label: Big, injectedText: big}, {label: Ant, injectedText: ant}]}
  - name: extras
    label: Extras
    type: multi_choice
    multiChoiceSeparator: " / "
    options: [{label: Milk, injectedText: "with milk"}, {label: Ice, injectedText: "with ice", sortOrder: 0}]
commands:
  - {name: Track, command: track, prompt: "Tell.\\nMore.", status: inactive}
  - {name: Buy, command: buy, prompt: Sell., description: To buy.}
subAgents:
  - {name: Zoe, description: Delegates to her., model: openai/gpt-4.1}
  - Adam
tools: [{name: lookup, requiresApproval: true, active: false}]
mcpServers: [{name: CRM, instanceMode: DYNAMIC, requiresApproval: true}]
nativeMcps: [{toolkit: calculator, name: Sums, instanceMode: DYNAMIC}]
skills: [greeting]
knowledge: [Handbook]
channels:
  - {type: web_chat, instanceMode: DYNAMIC, config: {title: Hello, welcomeMessage: "Hi\\nthere", allowedOrigins: [https://example.com]}}
  - type: z_api
    active: false
    config: {instanceId: abc}
    credentials: {instanceToken: env:Z_API_INSTANCE_TOKEN, clientToken: env:Z_API_CLIENT_TOKEN}
automations:
  - {name: Weekly, prompt: "Sum\\nup.", triggerMode: schedule, schedule: "0 9 * * 1", timezone: Europe/Berlin, status: inactive}
  - {name: Daily, prompt: Look., triggerMode: schedule, schedule: "@daily", hitlMode: auto_approve, description: Each day.}
  - {name: By hand, prompt: Begin., triggerMode: manual}
  - {name: Called, prompt: Answer., triggerMode: webhook_url}
`,
    'agents/support/prompt.md': '\uFEFFYou help {{zeta}}.\r\n\r\n  - key: value # no comment\r\n\r\n',
    'agents/zoe/agent.yaml': 'name: Zoe\nmodel: openai/gpt-4.1\nsubAgents: [Adam]\n',
    'agents/adam/agent.yaml': 'name: Adam\npublish: false\n',
    'http-tools/lookup.yaml': `name: lookup
toolType: HTTP_REQUEST
requiresApproval: true
configuration: {method: GET, url: "${here.tools.origin}/x", headers: {X-Token: "{{secrets.token}}"}, secrets: {token: env:TOOL_LOOKUP_TOKEN}}
`,
    'mcp-servers/crm.yaml': `name: CRM\nurl: ${mcp.url}\n`,
    'skills/greeting/skill.yaml': 'name: greeting\n',
    'skills/greeting/SKILL.md': '---\nname: greeting\ndescription: How to greet.\n---\nSay hello.\n',
    'skills/greeting/forms/letter.md': 'Dear you,\n',
    'knowledge/handbook.yaml': 'name: Handbook\nfile: handbook.md\n',
    'knowledge/handbook.md': '# Returns\n\nWithin 30 days.\n',
    'hub/hub.yaml': 'name: Tea\ndescription: All about tea.\ntheme: dark\nprimaryColor: "#112233"\n',
    'hub/links.yaml':
      '- {title: Blog, url: https://example.com/blog}\n- {title: About, url: https://example.com/about}\n',
    'hub/credit-packages.yaml': '- {name: Small, creditValueCents: 2, creditsAmount: 100}\n',
    'hub/plans/pro.yaml': `name: Pro
description: For professionals.
billingType: recurring
billingIntervalMonths: 1
priceCents: 1900
currency: EUR
seatsIncluded: 3
creditPackage: Small
widgetTitle: Most popular
widgetHighlighted: true
content: {agents: ["Support: 24/7"], pages: [home], externalLinks: [Blog]}
`,
    'hub/coupons/half.yaml': `code: HALF
discountType: percentage
discountValue: 50
duration: once
scope: plans
plans: [Pro]
maxUses: 10
`,
  };
}

async function done(folder: CodeFolder, argv: string[], key?: string): Promise<JsonObject> {
  const { code, out, err } = await folder.run([...argv, '--json'], { env, ...(key !== undefined && { key }) });
  if (code !== 0) throw new Error(`${argv.join(' ')} ended with ${code}: ${out}${err}`);
  return JSON.parse(out);
}

test('files → workspace → files → an empty workspace → files: equal, and nothing is pending on the way', async () => {
  const { stranger } = here.app;
  const source = await newFolder();
  await source.write(wholeWorkspace());
  expect(await done(source, ['apply', '--yes'])).toMatchObject({ created: 12, published: 2 });
  expect(await done(source, ['plan'])).toMatchObject({ pending: false, steps: [] });
  expect(await done(source, ['apply', '--yes'])).toMatchObject({ created: 0, changed: 0, published: 0, deleted: 0 });

  const before = await source.files();
  await done(source, ['pull']);
  expect(await source.files()).toEqual(before);

  const first = await newFolder();
  await done(first, ['pull']);
  expect(await done(first, ['plan'])).toMatchObject({ pending: false });

  expect(await done(source, ['plan'], stranger.apiKey)).toMatchObject({ pending: true });
  await done(source, ['apply', '--yes'], stranger.apiKey);
  expect(await done(source, ['plan'], stranger.apiKey)).toMatchObject({ pending: false, steps: [] });
  const second = await newFolder();
  await done(second, ['pull'], stranger.apiKey);
  const [files, others] = [await first.files(), await second.files()];
  expect(Object.keys(files)).toEqual([
    'agents/adam/agent.yaml',
    'agents/support-24-7/agent.yaml',
    'agents/support-24-7/prompt.md',
    'agents/zoe/agent.yaml',
    'guildhall.yaml',
    'http-tools/lookup.yaml',
    'hub/coupons/half.yaml',
    'hub/credit-packages.yaml',
    'hub/hub.yaml',
    'hub/links.yaml',
    'hub/plans/pro.yaml',
    'knowledge/handbook.yaml',
    'mcp-servers/crm.yaml',
    'skills/greeting/skill.yaml',
  ]);
  expect(others).toEqual(files);
  expect(files['agents/support-24-7/prompt.md']).toBe('You help {{zeta}}.\n\n  - key: value # no comment\n\n');
});
