import {
  type AgentOnChannel,
  configureNumber,
  contentsAt,
  deliveriesAt,
  metaSends,
  onWhatsapp,
  useChannelApp,
} from '../support/channels/channelApp.ts';
import { statusPost, textPost } from '../support/channels/whatsappPayloads.ts';
import { poll, until } from '../support/poll.ts';
import { adminJson } from '../support/scripts/admin.ts';

const here = useChannelApp();
const now = () => String(Math.floor(here.clock.now().getTime() / 1000));
let agent: AgentOnChannel;
const writes = (text: string) => metaSends(here, agent, textPost(text, 'both', undefined, now()));

describe('what goes wrong at Meta', () => {
  const problemOf = async () => {
    const listed: { connectionPublicId: string; problem: { code: string } | null }[] = await adminJson(
      here.app,
      'channel',
      'list',
    );
    return listed.find(({ connectionPublicId }) => connectionPublicId === agent.connectionId)?.problem;
  };

  test('a token that expired is shown as the health of the connection, until a new one is set', async () => {
    agent = await onWhatsapp(here);
    here.whatsapp.accessToken = 'EAAJB-another-token-0123456789';
    await writes('Hello?');
    const failed = await until(async () => (await deliveriesAt(here, agent)).find(({ status }) => status === 'failed'));
    expect(failed).toMatchObject({ error_code: '190' });
    await poll(problemOf, (problem) => problem?.code === 'TOKEN_EXPIRED');
    await configureNumber(here, agent.connectionId);
    expect(await problemOf()).toBeNull();
    await writes('Hello again?');
    await contentsAt(here.whatsapp, 1);
  });

  test('a limit of the rate passes: the message goes out later, once', async () => {
    agent = await onWhatsapp(here);
    here.whatsapp.fault = { status: 400, code: 130429, message: 'Rate limit hit' };
    await writes('Hello?');
    // Typing indicators are refused as well.
    await until(async () => (await deliveriesAt(here, agent)).find(({ error_code }) => error_code !== null));
    here.whatsapp.fault = undefined;
    expect(await contentsAt(here.whatsapp, 1)).toHaveLength(1);
    expect(
      await until(async () => (await deliveriesAt(here, agent)).find(({ status }) => status === 'sent')),
    ).toMatchObject({
      attempts: 2,
    });
  });

  test('a message whose answer is lost is not sent again, and a status tells that it was sent', async () => {
    agent = await onWhatsapp(here);
    // Typing indicators go to the same address: the fault stays until the message came.
    here.whatsapp.fault = { hangUpAfter: true };
    await writes('Hello?');
    await contentsAt(here.whatsapp, 1);
    const unknown = await until(async () =>
      (await deliveriesAt(here, agent)).find(({ status }) => status === 'failed'),
    );
    here.whatsapp.fault = undefined;
    const [message] = here.whatsapp.messages;
    const ours = { biz_opaque_callback_data: unknown.id, timestamp: now() };
    await metaSends(here, agent, statusPost(message?.id ?? '', 'delivered', ours));
    expect(await deliveriesAt(here, agent)).toMatchObject([{ status: 'delivered', attempts: 1 }]);
    expect(here.whatsapp.messages).toHaveLength(1);
  });

  test('a message that failed later keeps the code of Meta', async () => {
    agent = await onWhatsapp(here);
    await writes('Hello?');
    await contentsAt(here.whatsapp, 1);
    await until(async () => (await deliveriesAt(here, agent))[0]?.status === 'sent');
    const errors = [{ code: 131026, title: 'Message undeliverable', error_data: { details: 'Not on WhatsApp.' } }];
    const failure = { errors, timestamp: now() };
    await metaSends(here, agent, statusPost(here.whatsapp.messages[0]?.id ?? '', 'failed', failure));
    expect(await deliveriesAt(here, agent)).toMatchObject([
      { status: 'failed', error_code: '131026', error_message: 'Not on WhatsApp.' },
    ]);
  });
});
