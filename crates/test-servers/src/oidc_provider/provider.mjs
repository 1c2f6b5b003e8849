// A provider with one client: its id, its secret and its redirect URI are the arguments, after the folder of the packages.
// It prints its port, signs in everybody by any name and password, and asks for consent.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [packages, client_id, client_secret, redirect_uri] = process.argv.slice(2);
const library = createRequire(`${packages}/package.json`).resolve('oidc-provider');
const { Provider } = await import(pathToFileURL(library));

// The tests read only the first line.
process.stdout.on('error', () => {});

const server = createServer().listen(0, '127.0.0.1', () => {
  const { port } = server.address();
  const provider = new Provider(`http://127.0.0.1:${port}`, {
    clients: [{ client_id, client_secret, redirect_uris: [redirect_uri] }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    findAccount: (_, sub) => ({
      accountId: sub,
      claims: () => ({ sub, name: `${sub} of the staff`, email: `${sub}@staff.example`, email_verified: true }),
    }),
    pkce: { required: () => true },
    cookies: { keys: ['a key of tests'] },
  });
  server.on('request', provider.callback());
  console.log(port);
});
