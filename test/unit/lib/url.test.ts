import {
	isInternalUrl,
	isLoopbackUrl,
	isSurelyInternalUrl,
	readWebUrl,
} from '../../../nodes/MediaGeneration/lib/url';

it.each([
	[' https://a.example/a%20b.png\n', 'https://a.example/a%20b.png'],
	['https://a.example/a red fox.png?by=A B', 'https://a.example/a%20red%20fox.png?by=A%20B'],
	['HTTPS://a.example/a\u00a0b\u3000c', 'HTTPS://a.example/a%C2%A0b%E3%80%80c'],
	['https://a.example/a.png https://b.example/b.png', undefined],
	['https://a.example/a\nb.png', undefined],
	['see https://a.example/a.png', undefined],
	['ftp://a.example/a b.png', undefined],
])('reads from %j the URL %j', (text, url) => {
	expect(readWebUrl(text)).toBe(url);
});

const split = (hosts: string) => hosts.trim().split(/\s+/);

/** Whom the token may be sent to over plain HTTP. */
const SURELY_INTERNAL = split(`
	localhost:5678 localhost. app.localhost n8n:5678 n8n.local
	METADATA.google.INTERNAL minio.storage.svc
	127.0.0.1. 127.8.9.1:5678 2130706433 0.0.0.0 10.0.0.1
	172.16.0.1 172.31.255.1 192.168.1.2 169.254.169.254 100.64.0.1 100.127.255.255
	224.0.0.1 255.255.255.255
	[::] [::1]:5678 [fc00::1] [fe80::1] [ff02::1]`);

/** Where a link may lead inside: addresses of clouds, endings of networks at home and at work, IPv4 in IPv6. */
const PERHAPS_INTERNAL = split(`
	168.63.129.16 192.0.0.1 192.0.0.192 192.0.0.255 198.18.0.1 198.19.255.255
	[::ffff:10.0.0.1] [::127.0.0.1] [64:ff9b::a9fe:a9fe] [2002:a9fe:a9fe::1]
	nas.lan. WIKI.corp printer.home.arpa a.b.home wiki.intranet a.private
	localhost.localdomain`);

const OUTSIDE = split(`
	example.com. n8n.local.example.com 10.0.0.1.example.com mylocal.example a.new-ending
	a.lan.example mylan.example home.arpa.example
	[2606:4700::1111] [2001:4860:4860::8888]
	8.8.8.8 11.0.0.1 100.63.0.1 100.128.0.1 169.253.0.1 172.15.0.1 172.32.0.1 192.167.0.1
	192.169.0.1 223.255.255.255 99.64.0.1
	168.63.129.15 168.63.128.16 192.0.1.1 192.1.0.1 198.17.255.255 198.20.0.1`);

it.each(SURELY_INTERNAL)('%s is inside the network', (host) => {
	expect(isInternalUrl(`http://${host}/x`)).toBe(true);
	expect(isSurelyInternalUrl(`http://${host}/x`)).toBe(true);
});

it.each(PERHAPS_INTERNAL)('a link to %s may lead inside, and gets no token in clear', (host) => {
	expect(isInternalUrl(`http://${host}/x`)).toBe(true);
	expect(isSurelyInternalUrl(`http://${host}/x`)).toBe(false);
});

it.each(OUTSIDE)('%s may be outside', (host) => {
	expect(isInternalUrl(`https://${host}`)).toBe(false);
	expect(isSurelyInternalUrl(`https://${host}`)).toBe(false);
});

it.each(
	split('localhost localhost:5678 app.localhost LOCALHOST. 127.0.0.1 127.8.9.1:80 [::1]:5678'),
)('%s is the machine itself', (host) => expect(isLoopbackUrl(`http://${host}/x`)).toBe(true));

it.each(
	split('10.0.0.1 0.0.0.0 n8n n8n.lan localhost.example.com 127.example.com [::2] n8n.example.com'),
)('%s may be another machine', (host) => expect(isLoopbackUrl(`http://${host}/x`)).toBe(false));
