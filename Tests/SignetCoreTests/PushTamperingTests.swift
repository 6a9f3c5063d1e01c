import SignetCore
import Testing

@Suite("Tampered push messages")
struct PushTamperingTests {
    private func refusal(of jwt: String) throws -> PushMessageError? {
        let secret = try Sample.pushSecret
        do throws(PushMessageError) {
            _ = try SealedPushMessage(jwt).open(with: secret)
            return nil
        } catch {
            return error
        }
    }

    /// The only bit flips without effect: the last character of the signature stands for six bits, of which the 256 bits of the
    /// MAC use four.
    ///
    /// Base64 readers drop the other two, so up to three other last characters decode to the same bytes.
    private func decodesToTheSameSignature(_ jwt: String, as original: String) -> Bool {
        let (cut, originalCut) = (jwt.split(separator: "."), original.split(separator: "."))
        guard cut.count == 3, originalCut.count == 3, cut[0] == originalCut[0], cut[1] == originalCut[1],
            let signature = try? Base64.decode(cut[2])
        else { return false }
        return signature == (try? Base64.decode(originalCut[2]))
    }

    @Test("A message with any single bit flipped is refused", arguments: try Vectors.rows("push", "messages"))
    func refusesBitFlips(row: Vectors.Row) throws {
        guard row.members["accept"] == .bool(true) else { return }
        let original = try row.text("jwt")
        let bytes = Array(original.utf8)
        var harmless = 0
        for offset in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[offset] ^= 1 << UInt8(bit)
                let jwt = String(decoding: changed, as: UTF8.self)
                if decodesToTheSameSignature(jwt, as: original) {
                    harmless += 1
                    #expect(offset == bytes.count - 1)
                } else {
                    #expect(try refusal(of: jwt) != nil, "bit \(bit) of byte \(offset)")
                }
            }
        }
        #expect(harmless <= 3)
    }

    @Test("A message that is truncated or extended is refused")
    func refusesTruncation() throws {
        let jwt = try Vectors.rows("push", "messages")[0].text("jwt")
        for length in 0..<jwt.utf8.count {
            #expect(try refusal(of: String(jwt.prefix(length))) != nil, "\(length) characters")
        }
        for rest in [".", ".x", "A", "==", "AAAA", "\n", " ", "\0"] {
            #expect(try refusal(of: jwt + rest) != nil, "\(rest)")
        }
    }

    @Test(
        "An invalid signature is reported before invalid claims and before a payload that is not JSON",
        arguments: [
            "{}", #"{"c":"!"}"#, #"{"u":1,"t":"soon"}"#, "[]", "not JSON", "", #"{"c":"AAAA","u":"x","l":"YT1iDQo="}"#,
        ])
    func reportsSignatureFirst(payload: String) throws {
        let otherSecret = Secret([UInt8](repeating: 9, count: 32))
        let forged = CompactJWS.sign(Array(payload.utf8), with: otherSecret)
        #expect(try refusal(of: forged) == .signature)

        let genuine = CompactJWS.sign(Array(payload.utf8), with: try Sample.pushSecret)
        let found = try #require(try refusal(of: genuine))
        #expect(found != .signature && found != .algorithm)
    }

    @Test(
        "A header with any algorithm but HS256 is refused, whatever the signature",
        arguments: [
            (#"{"typ":"JWT","alg":"none"}"#, PushMessageError.algorithm), (#"{"alg":"None"}"#, .algorithm),
            (#"{"alg":"HS512"}"#, .algorithm),
            (#"{"alg":"RS256"}"#, .algorithm), (#"{"alg":"hs256"}"#, .algorithm), (#"{"alg":null}"#, .algorithm),
            (#"{"alg":["HS256"]}"#, .algorithm), (#"{"typ":"JWT"}"#, .algorithm), ("[]", .algorithm), ("HS256", .form),
            ("", .form),
        ])
    func refusesOtherAlgorithms(header: String, refused: PushMessageError) throws {
        let jwt = try Vectors.rows("push", "messages")[0].text("jwt").split(separator: ".")
        let encoded = Base64.encode(Array(header.utf8), as: .url)
        #expect(try refusal(of: "\(encoded).\(jwt[1]).\(jwt[2])") == refused)
        #expect(try refusal(of: "\(encoded).\(jwt[1]).") == refused)
    }

    @Test("A missing signature, one made with an empty key, or one of another length is refused")
    func refusesInvalidSignatures() throws {
        let jwt = try Vectors.rows("push", "messages")[0].text("jwt").split(separator: ".")
        let signature = try Base64.decode(jwt[2])
        let empty = CompactJWS.sign(try Base64.decode(jwt[1]), with: Secret([UInt8]()))
        #expect(try refusal(of: empty) == .signature)
        for bytes in [
            [], Array(signature.dropLast()), signature + [0], Array(signature.reversed()), [UInt8](repeating: 0, count: 32),
        ] {
            #expect(try refusal(of: "\(jwt[0]).\(jwt[1]).\(Base64.encode(bytes, as: .url))") == .signature)
        }
    }

    @Test("A signature may use either base64 alphabet, padded or not")
    func acceptsSignatureForms() throws {
        let jwt = try Vectors.rows("push", "messages")[1].text("jwt").split(separator: ".")
        let standard = Base64.encode(try Base64.decode(jwt[2]), as: .standard)
        #expect(standard != String(jwt[2]))
        #expect(try refusal(of: "\(jwt[0]).\(jwt[1]).\(standard)") == nil)
    }

    @Test("Text without three segments is refused as malformed", arguments: ["", ".", "a.b", "a.b.c.d", "....", "a"])
    func refusesOtherSegmentCounts(text: String) throws {
        #expect(try refusal(of: text) == .form)
    }

    @Test("An error repeats nothing of the push message")
    func pushErrorHidesMessage() throws {
        let named = try Vectors.rows("push", "messages").first { $0.members["name"]?.string == "ttl not a number" }
        let row = try #require(named)
        let error = try #require(try refusal(of: row.text("jwt")))
        #expect(!String(reflecting: error).contains("soon"))
        #expect(!error.description.contains("soon"))
    }
}
