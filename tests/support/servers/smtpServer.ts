import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

/** What a mail server got. */
export interface ReceivedMail {
  from: string;
  to: string[];
  content: string;
  isSecure: boolean;
  user: string | undefined;
}

/** How the next mails go wrong, until it is taken away. */
export type SmtpFault =
  | { at: 'recipient' | 'data'; code: number }
  /** The connection ends while the mail is sent, or after it was taken and before the answer. */
  | { at: 'hang-up'; after: 'beginning' | 'mail' }
  | { at: 'silence' };

/** A mail server on 127.0.0.1. */
export interface SmtpStandIn {
  port: number;
  mails: ReceivedMail[];
  fault: SmtpFault | undefined;
  close(): Promise<void>;
}

function refusal(code: number): Error {
  return Object.assign(new Error('The stand-in was told to refuse.'), { responseCode: code });
}

/** Starts it. Without options it offers neither TLS nor a login. The user of a login is `agency`, the password `secret`. */
export async function startSmtpServer(options: SMTPServerOptions = {}): Promise<SmtpStandIn> {
  const standIn = { port: 0, mails: [] as ReceivedMail[], fault: undefined as SmtpFault | undefined };
  /** By the port of the client. */
  const sockets = new Map<number, Socket>();
  const server = new SMTPServer({
    disabledCommands: options.authOptional === false ? [] : ['AUTH'],
    hideSTARTTLS: true,
    authOptional: true,
    logger: false,
    closeTimeout: 50,
    ...options,
    onAuth({ username, password }, _session, done) {
      if (username === 'agency' && password === 'secret') done(null, { user: username });
      else done(new Error('Invalid login'));
    },
    onRcptTo(_address, _session, done) {
      const { fault } = standIn;
      if (fault?.at === 'silence') return;
      done(fault?.at === 'recipient' ? refusal(fault.code) : null);
    },
    onData(stream, session, done) {
      const { fault } = standIn;
      const hangUp = () => sockets.get(session.remotePort)?.destroy();
      if (fault?.at === 'hang-up' && fault.after === 'beginning') return void hangUp();
      buffer(stream).then((content) => {
        if (fault?.at === 'data') return done(refusal(fault.code));
        const { mailFrom, rcptTo } = session.envelope;
        standIn.mails.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          content: content.toString(),
          isSecure: session.secure,
          user: session.user,
        });
        if (fault?.at === 'hang-up') hangUp();
        else done();
      }, done);
    },
  });
  server.server.on('connection', (socket: Socket) => sockets.set(socket.remotePort ?? 0, socket));
  // A client that ends the connection is what some tests are about.
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  standIn.port = (server.server.address() as AddressInfo).port;
  return Object.assign(standIn, { close: () => new Promise<void>((resolve) => server.close(() => resolve())) });
}
