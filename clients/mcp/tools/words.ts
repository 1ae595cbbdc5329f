/** Words that say nothing about what is wanted. */
const STOP = new Set(
  `a all an and any are as at be but by can could do does for from get gets give has have how i in into is it its
   let like me my new of on one or our out please should so some that the their them then there these this to up us use want
   was we what when another other where which who will with you your`.split(/\s+/),
);

/** The words of the API for words that people use. */
const MEANT: Record<string, string> = {
  ability: 'feature',
  activate: 'update publish reactivate',
  add: 'create link upload',
  answer: 'message reply',
  api: 'tool',
  ask: 'send message',
  assign: 'link',
  assistant: 'agent',
  attach: 'link',
  audio: 'feature',
  block: 'suspend',
  bot: 'agent',
  brand: 'hub identity color logo',
  cancel: 'suspend delete',
  capability: 'feature',
  change: 'update',
  chat: 'send message',
  color: 'identity',
  colour: 'color identity',
  company: 'client',
  connect: 'link create',
  cron: 'automation schedule',
  customer: 'client',
  daily: 'automation schedule',
  database: 'tool',
  deactivate: 'update suspend',
  delegate: 'sub',
  deploy: 'publish',
  detach: 'unlink',
  disable: 'update',
  discount: 'coupon',
  disconnect: 'delete channel unlink',
  document: 'knowledge source',
  edit: 'update',
  employee: 'user',
  enable: 'update feature',
  erase: 'delete',
  every: 'automation schedule',
  faq: 'knowledge source',
  file: 'upload',
  freeze: 'publish',
  give: 'link',
  gmail: 'native toolkit',
  hourly: 'automation schedule',
  history: 'conversation message',
  instruction: 'prompt',
  invite: 'invitation client',
  job: 'automation',
  knowledge: 'source',
  live: 'publish',
  llm: 'model',
  log: 'execution message',
  make: 'create update',
  member: 'user',
  memory: 'feature',
  menu: 'external link',
  modify: 'update',
  money: 'credit',
  morning: 'automation schedule',
  pause: 'suspend update',
  pdf: 'knowledge source',
  price: 'plan',
  pricing: 'plan',
  refresh: 'discover',
  register: 'create',
  release: 'publish',
  remove: 'delete unlink',
  rename: 'update',
  resume: 'reactivate',
  revert: 'restore',
  roll: 'restore version',
  rollback: 'restore version',
  run: 'execution test',
  say: 'send message',
  schedule: 'automation',
  see: 'list',
  set: 'update',
  setting: 'update',
  show: 'list',
  slack: 'native toolkit',
  speak: 'send message',
  start: 'create reactivate',
  stop: 'update status suspend',
  subscription: 'plan',
  switch: 'update',
  talk: 'send message',
  tariff: 'plan',
  team: 'user',
  telephone: 'whatsapp channel',
  text: 'source',
  try: 'test',
  turn: 'update',
  undo: 'restore',
  unblock: 'reactivate',
  valid: 'check',
  view: 'list',
  voucher: 'coupon',
  webhook: 'trigger',
  website: 'web channel',
  weekly: 'automation schedule',
  whatsapp: 'channel',
  write: 'create update send',
};

/** The words of a text in one form: without capitals, endings and words that say nothing; `camelCase` and `snake_case` are several words. */
export function wordsOf(text: string): string[] {
  return text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '' && !STOP.has(word))
    .map(stem);
}

function stem(word: string): string {
  if (word.length < 4) return word;
  const base = word
    .replace(/ies$/, 'y')
    .replace(/(?<=[^aeiou]{2}|[^s]e|x|ch|sh|[^s])s$/, '')
    .replace(/(?<=\w{3})(ing|ed)$/, '');
  return base.length > 4 ? base.replace(/[ey]$/, '') : base;
}

const meant = new Map(Object.entries(MEANT).map(([word, others]) => [stem(word), wordsOf(others)]));

/** The words that are meant besides a word of a question, which is one of `wordsOf`. */
export function meantBy(word: string): readonly string[] {
  return meant.get(word) ?? [];
}
