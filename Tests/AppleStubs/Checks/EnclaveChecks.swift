import Foundation
import Security
import SignetCore
import SignetStorage

private let protector = SecureEnclaveProtector(tag: "signet.check")
private let dataKey = Secret([UInt8](0..<32))

let enclaveChecks: [Check] = [
    Check("the enclave opens what it sealed, also for the next key protector with the tag") {
        let wrapped = try protector.wrap(dataKey, context: [1])
        try expect(wrapped.count == 65 + 81 + 64, "\(wrapped.count) bytes")
        try expect(
            try SecureEnclaveProtector(tag: "signet.check").unwrap(wrapped, context: [1]) == dataKey, "another key came out")
        try expect(StandInKeychain.items.count == 1, "one wrapping and one opening made several keys")
    },
    Check("a wrapped key opens in its own context only") {
        let wrapped = try protector.wrap(dataKey, context: [1])
        for context in [[], [2], [1, 0]] as [[UInt8]] {
            try expect(.keyMismatch) { _ = try protector.unwrap(wrapped, context: context) }
        }
    },
    Check("a wrapped key that was changed in any byte, or cut, does not open") {
        let wrapped = try protector.wrap(dataKey, context: [1])
        for index in wrapped.indices {
            var changed = wrapped
            changed[index] ^= 1
            // A changed public key is another key, which this device does not have.
            try expect(index < 65 ? .keyUnavailable : .keyMismatch) { _ = try protector.unwrap(changed, context: [1]) }
        }
        for count in 0..<wrapped.count {
            try expect(.keyMismatch) { _ = try protector.unwrap(Array(wrapped.prefix(count)), context: [1]) }
        }
    },
    Check("another device does not have the key, and makes none to open with") {
        let wrapped = try protector.wrap(dataKey, context: [1])
        StandInEnclave.forgetKeys()
        try expect(.keyUnavailable) { _ = try protector.unwrap(wrapped, context: [1]) }
        try expect(StandInKeychain.items.isEmpty, "a key was made")
        _ = try protector.wrap(dataKey, context: [1])
        try expect(.keyUnavailable) { _ = try protector.unwrap(wrapped, context: [1]) }
    },
    Check("two keys with one tag, as two processes can make them, each open what they wrapped") {
        let first = try protector.wrap(dataKey, context: [1])
        _ = try SecureEnclaveKey.create(tag: "signet.check")
        let second = try protector.wrap(dataKey, context: [1])
        for wrapped in [first, second] {
            try expect(try protector.unwrap(wrapped, context: [1]) == dataKey, "another key came out")
        }
    },
    Check("a device before its first unlock makes no key, and loses none") {
        let wrapped = try protector.wrap(dataKey, context: [1])
        StandInKeychain.setLocked(true)
        try expect(.keyUnavailable) { _ = try protector.unwrap(wrapped, context: [1]) }
        try expect(.keyUnavailable) { _ = try protector.wrap(dataKey, context: [1]) }
        try expect(.keyUnavailable) { _ = try SecureEnclaveProtector(tag: "signet.second").wrap(dataKey, context: [1]) }
        StandInKeychain.setLocked(false)
        try expect(StandInKeychain.items.count == 1, "a key was made")
        try expect(try protector.unwrap(wrapped, context: [1]) == dataKey, "another key came out")
    },
    Check("a device without an enclave reports that") {
        StandInKeychain.fail(.add, with: errSecUnimplemented)
        try expect(.keyUnavailable, errSecUnimplemented) { _ = try protector.wrap(dataKey, context: [1]) }
    },
    Check("two keys agree on one point, and a point off the curve is refused") {
        let first = try SecureEnclaveKey.create(tag: "first")
        let second = try SecureEnclaveKey.create(tag: "second")
        let shared = try first.agree(with: second.publicKey)
        try expect(shared.count == 32, "\(shared.count) bytes")
        try expect(try second.agree(with: first.publicKey) == shared, "the two sides differ")
        var point = second.publicKey
        point[40] ^= 1
        for other in [point, Array(point.prefix(64)), []] {
            try expect(.corrupt) { _ = try first.agree(with: other) }
        }
        StandInEnclave.forgetKeys()
        try expect(.keyUnavailable) { _ = try first.agree(with: second.publicKey) }
    },
    Check("a key that a fingerprint releases is useless after another one was enrolled, and is then replaced") {
        let plain = try SecuredKey(tag: "signet.check")
        let key = try SecuredKey(biometryTag: "signet.check")
        try expect(key.publicKey != plain.publicKey, "both are one key")
        let sealed = key.encrypt(data: Data([7])) ?? Data()
        try expect(try SecuredKey(biometryTag: "signet.check").decrypt(data: sealed) == Data([7]), "it opens nothing")
        StandInEnclave.enrollFingerprint()
        try expect(key.decrypt(data: sealed) == nil, "it opened without its fingerprint")
        let next = try SecuredKey.enrollBiometry(tag: "signet.check")
        try expect(try SecuredKey(biometryTag: "signet.check").publicKey == next.publicKey, "the earlier key is still there")
        try expect(next.decrypt(data: next.encrypt(data: Data([8])) ?? Data()) == Data([8]), "the new key opens nothing")
        try expect(plain.decrypt(data: plain.encrypt(data: Data([9])) ?? Data()) == Data([9]), "the other key is useless too")
        try expect(StandInKeychain.items.count == 2, "a key was left behind")
    },
    Check("a signing key in the enclave opens from its reference, and signs for its public half") {
        let key = try SigningKeyProvider().create(.hardware)
        try expect(key.level == .hardware, "\(key.level)")
        try expect(StandInKeychain.items.isEmpty, "the keychain holds a part of it")
        let opened = try SigningKeyProvider().open(key.reference)
        try expect(opened.publicKey == key.publicKey, "another key was opened")
        try expect(key.publicKey.isValid(try opened.sign([1, 2, 3]), of: [1, 2, 3]), "the signature is wrong")
        try expect(.keyUnavailable) { _ = try key.attestation(nonce: [1]) }
        StandInEnclave.forgetKeys()
        try expect(.keyMismatch) { _ = try SigningKeyProvider().open(key.reference) }
        try expect(.keyMismatch) { _ = try opened.sign([1]) }
    },
    Check("a signing key that a fingerprint releases signs nothing after another one was enrolled") {
        let provider = SigningKeyProvider()
        let (key, other) = (try provider.create(releasedBy: .biometry), try provider.create(releasedBy: .biometryOrPasscode))
        try expect(key.publicKey.isValid(try key.sign([1]), of: [1]), "the signature is wrong")
        StandInEnclave.enrollFingerprint()
        try expect(.denied) { _ = try key.sign([1]) }
        try expect(other.publicKey.isValid(try other.sign([1]), of: [1]), "the passcode releases it no more")
    },
    Check("a device without an enclave makes a signing key in software only when any place is allowed") {
        StandInEnclave.setMissing(true)
        defer { StandInEnclave.setMissing(false) }
        let provider = SigningKeyProvider()
        try expect(try provider.create(.best).level == .software, "it is not in software")
        try expect(.keyUnavailable) { _ = try provider.create(.hardware) }
        try expect(.keyUnavailable) { _ = try provider.create(.best, releasedBy: .biometry) }
    },
    Check("a vault is sealed by the enclave in the keychain, and opens again") {
        let key = RecordKey(.account, "Harbor Bank", "mira")
        try Vault.create(in: store, protector: protector).put([7], key)
        try expect(try Vault.open(store, protectors: [protector]).get(key) == [7], "the record is another")
        try expect(try store.contents(.account) != [[7]], "the record is not sealed")
    },
]
