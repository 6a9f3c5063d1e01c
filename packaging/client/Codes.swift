import SignetCore

// The first test vectors of RFC 4226, appendix D.
let secret = Secret("12345678901234567890".utf8)
for counter in UInt64(0)...2 {
    print(HOTP.code(secret: secret, counter: counter))
}
