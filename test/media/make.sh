#!/bin/sh
# Makes the corpus again, beside this file. Needs Debian's ffmpeg, imagemagick and libimage-exiftool-perl.
set -eu
cd "$(dirname "$0")"
rm -f -- *.jpg *.png *.gif *.webp *.avif *.mp4 *.mov *.m4a *.webm *.mkv *.txt *.html *.bin
export SOURCE_DATE_EPOCH=0

image() { # size, file, more options of convert
	size=$1 file=$2
	shift 2
	convert -size "$size" gradient:navy-orange -quality 30 +set date:create +set date:modify "$@" "$file"
}

video() { # size, seconds, file, more options of ffmpeg: 2 frames a second, without sound
	size=$1 seconds=$2 file=$3
	shift 3
	ffmpeg -loglevel error -y -f lavfi -i "color=navy:size=$size:rate=2:duration=$seconds" \
		-pix_fmt yuv420p -crf 50 -bitexact "$@" "$file"
}

# JPEG
image 480x360 baseline.jpg -interlace none
# Turned by its EXIF, which has a thumbnail; 8 kB of XMP and 8 kB of comment: 20 kB before the frame.
image 160x120 thumbnail.bin.jpg
image 480x360 thumbnail.jpg
head -c 8000 /dev/zero | tr '\0' x >comment.txt
exiftool -q -overwrite_original -n -Orientation=6 '-ThumbnailImage<=thumbnail.bin.jpg' '-XMP-dc:Description<=comment.txt' \
	'-Comment<=comment.txt' thumbnail.jpg
rm thumbnail.bin.jpg comment.txt

# PNG
image 480x360 plain.png
image 341x341 side-341.png
head -c 20 plain.png >truncated.png

# Pictures of other formats
image 480x360 image.gif +dither -colors 4
image 480x360 image.webp
ffmpeg -loglevel error -y -f lavfi -i color=navy:size=480x360 -frames:v 1 -pix_fmt yuv420p -bitexact image.avif

# MP4
video 480x360 4 plain.mp4
# The movie box before the samples, not behind them.
video 480x360 4 faststart.mp4 -movflags +faststart
video 480x360 4 29.97-fps.mp4 -r 30000/1001
video 480x360 4 hevc.mp4 -c:v libx265 -x265-params log-level=none
# 6 s of samples, of which an edit list shows 4 s.
ffmpeg -loglevel error -y -f lavfi -i color=navy:size=480x360:rate=2:duration=6 -pix_fmt yuv420p -crf 50 -g 100 -bitexact uncut.mp4
ffmpeg -loglevel error -y -ss 2 -i uncut.mp4 -c copy -bitexact edit-list.mp4
rm uncut.mp4
# Its movie box says 1 s; it lasts 4.
video 480x360 4 fragmented.mp4 -movflags +frag_keyframe -g 2
# Version 1 of the headers.
video 480x360 4 64-bit-times.mp4 -r 8 -bf 0 -video_track_timescale 2000000000 -movie_timescale 2000000000
ffmpeg -loglevel error -y -f lavfi -i sine=duration=4 -b:a 8k -ar 8000 -bitexact only-sound.mp4
ffmpeg -loglevel error -y -i only-sound.mp4 -c copy -bitexact only-sound.m4a
# What no encoder writes at this size: the 64-bit form of mdat's size (ffmpeg leaves a free box for it).
node -e '
	const fs = require("fs");
	const file = fs.readFileSync("plain.mp4");
	const mdat = file.indexOf("mdat") - 4;
	file.writeUInt32BE(1, mdat - 8);
	file.write("mdat", mdat - 4);
	file.writeBigUInt64BE(BigInt(file.readUInt32BE(mdat) + 8), mdat);
	fs.writeFileSync("64-bit-size.mp4", file);
'

# QuickTime
video 480x360 4 quicktime.mov

# Videos of other formats, and no media
video 480x360 4 video.webm -c:v libvpx -b:v 10k
video 480x360 4 video.mkv
printf 'No picture, only words.\n' >words.txt
printf '<!doctype html>\n<title>Log in</title>\n' >page.html
: >empty.bin
