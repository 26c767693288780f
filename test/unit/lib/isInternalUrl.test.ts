import { isInternalUrl, isLoopbackUrl } from '../../../nodes/MediaGeneration/lib/isInternalUrl';

describe('isInternalUrl', () => {
	const internal = `
		localhost localhost:5678 localhost. app.localhost n8n:5678 n8n.local n8n.internal
		metadata.google.internal. METADATA.google.INTERNAL printer.lan nas.home.arpa
		127.0.0.1 127.0.0.1. 127.8.9.1:5678 2130706433 0.0.0.0 10.0.0.1
		172.16.0.1 172.20.0.1 172.29.0.1 172.31.255.1 192.168.1.2 169.254.169.254
		100.64.0.1 100.70.0.1 100.99.0.1 100.127.255.255
		192.0.0.8 198.18.0.1 198.19.255.255 224.0.0.1 255.255.255.255
		[::] [::1]:5678 [::127.0.0.1] [fc00::1] [fd00::1] [fe80::1] [febf::1] [fec0::1] [ff02::1]
		[::ffff:127.0.0.1] [::ffff:10.0.0.1]
		[::ffff:0:127.0.0.1] [2002:7f00:1::] [2002:a00:1::1] [2002:c0a8:101::5]
		[2001:0:4136:e378:8000:63bf:80ff:fffe] [2001:0:808:808::f5ff:fffe]
		localtest.me n8n.localtest.me lvh.me a.b.lvh.me nip.io traefik.me
		10.0.0.1.nip.io app.127.0.0.1.nip.io 10-0-0-1.nip.io app-192-168-1-2.sslip.io 7f000001.nip.io
		app-0a000001.nip.io 8.8.8.8.10.0.0.1.nip.io 1.10.0.0.1.nip.io fe80--1.sslip.io
		minio.storage.svc minio.storage.svc.cluster.local 10-0-0-1.default.pod wiki.corp nas.home
		db.intranet vault.service.consul app.docker n8n.localdomain x.private
		[64:ff9b::10.0.0.1] [64:ff9b::a9fe:a9fe] [64:ff9b:1::192.168.0.1]`
		.trim()
		.split(/\s+/);

	const external = `
		n8n.example.com example.com. local.example.com n8n.local.example.com
		10.example.com 10.0.0.1.example.com
		8.18.0.1 8.64.0.1 8.254.0.1 11.0.0.1 100.63.0.1 100.128.0.1 169.253.0.1 172.15.0.1 172.32.0.1
		192.0.1.1 192.169.0.1 198.17.0.1 198.20.0.1 223.255.255.255
		[fe00::1] [2001:4860:4860::8888] [2001:64:ff9b::1] [2001:64:ff9b:1::a00:1]
		[2002:808:808::1] [2001:0:4136:e378:8000:63bf:f7f7:f7f7] [2003:7f00:1::]
		8.8.8.8.nip.io app-8-8-8-8.sslip.io 08080808.nip.io notnip.io localtest.me.example.com
		mylvh.me svc.example.com example.svc.com home.example.com
		[::ffff:8.8.8.8] [0:ffff:1::a00:1]
		[64:ff9b::8.8.8.8] [64:ff9c::10.0.0.1] [64:ff9b:0:1::a00:1]`
		.trim()
		.split(/\s+/);

	it.each(
		'localhost localhost:5678 app.localhost LOCALHOST. 127.0.0.1 127.8.9.1:80 [::1]:5678'.split(
			' ',
		),
	)('%s is the machine itself', (host) => expect(isLoopbackUrl(`http://${host}/x`)).toBe(true));
	it.each(
		'10.0.0.1 0.0.0.0 n8n n8n.lan localhost.example.com 127.example.com [::2] n8n.example.com'.split(
			' ',
		),
	)('%s may be another machine', (host) => expect(isLoopbackUrl(`http://${host}/x`)).toBe(false));

	it.each(internal)('%s is', (host) => expect(isInternalUrl(`http://${host}/x`)).toBe(true));
	it.each(external)('%s is not', (host) => expect(isInternalUrl(`https://${host}`)).toBe(false));
});
