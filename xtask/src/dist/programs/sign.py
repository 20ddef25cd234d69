import zariz
key = zariz.PrivateKey.generate(2048)
messages = [b"message %d" % i for i in range(20)]
signatures = key.sign_batch(messages, "RS256")
assert all(key.public_key.verify_batch(messages, signatures, "RS256"))
assert not any(key.public_key.verify_batch(messages[::-1], signatures, "RS256"))
print("zariz", zariz.__version__, "signed", len(signatures), "messages")
