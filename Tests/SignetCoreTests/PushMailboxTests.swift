import Testing

@testable import SignetCore

@Suite("Mailboxes at a push front")
struct PushMailboxTests {
    private static let secret = Secret(Array("a secret of thirty-two bytes....".utf8))

    @Test("The address is made of the secret, always the same, and says nothing of it")
    func address() throws {
        let mailbox = try PushMailbox(of: Self.secret)
        #expect(mailbox.address == (try PushMailbox(of: Self.secret)).address)
        #expect(mailbox.address != (try PushMailbox(of: Secret.random(byteCount: 32))).address)
        #expect(mailbox.address.hasPrefix("signet-mailbox-") && mailbox.address.utf8.count == 58)
        #expect(PushMailbox.isAddress(mailbox.address))
    }

    @Test(
        "What is no address is none",
        arguments: [
            "", "token", "signet-mailbox-", "signet-mailbox-AAAA", "SIGNET-MAILBOX-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "signet-mailbox-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
            "signet-mailbox-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB",
            "signet-mailbox-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA+A",
            "signet-mailbox-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA ",
        ])
    func noAddress(text: String) {
        #expect(!PushMailbox.isAddress(text))
    }

    @Test("A proof is good for its mailbox and its nonce, and for nothing when a character of it is another")
    func proof() throws {
        let mailbox = try PushMailbox(of: Self.secret)
        let proof = try mailbox.proof("nonce.1")
        let verified = try #require(PushMailbox.verified(proof))
        #expect(verified.address == mailbox.address && verified.nonce == "nonce.1")
        let characters = Array(proof)
        for index in stride(from: 0, to: characters.count, by: 7) where characters[index] != "." {
            var other = characters
            other[index] = other[index] == "A" ? "B" : "A"
            // The last character of a segment has bits that mean nothing; they are refused or say the same.
            if let found = PushMailbox.verified(String(other)) {
                #expect(found.address == mailbox.address && found.nonce == "nonce.1")
            }
        }
        let parts = proof.split(separator: ".")
        #expect(PushMailbox.verified("\(parts[0]).\(parts[1]).") == nil)
        #expect(PushMailbox.verified("eyJhbGciOiJub25lIn0.\(parts[1]).") == nil)
        #expect(PushMailbox.verified("\(parts[0]).\(parts[1])") == nil)
        // A desk's proof is none, whoever signed it.
        let server = CompactJWS.sign(
            JSON.encode(PushStreamProof(mechanismUid: mailbox.address, nonce: "nonce.1")), with: Self.secret)
        #expect(PushMailbox.verified(server) == nil)
    }

    @Test("Another's key signs for another's mailbox only")
    func stranger() throws {
        let (own, other) = (try PushMailbox(of: Self.secret), try PushMailbox(of: Secret.random(byteCount: 32)))
        let (mine, theirs) = (try own.proof("n").split(separator: "."), try other.proof("n").split(separator: "."))
        #expect(PushMailbox.verified("\(mine[0]).\(mine[1]).\(theirs[2])") == nil)
    }
}
