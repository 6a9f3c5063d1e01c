import Foundation
import SignetCore

/// The material of the shared vectors.
enum Sample {
    /// The secret of the one-time codes, as every tool takes it.
    static let codeSecret = "KDJ7CDBNBTGWZBQC7WMBG46RPBZ6L4UD"

    /// A push message with every claim that PingAM sends, and what belongs to it.
    struct Push: Sendable {
        let jwt: String
        let secret: [UInt8]
        let mechanismUID: String
        /// The time at which it was sent, by its own claim.
        let sentAt: Date
        /// One of the numbers it offers.
        let number: Int
    }

    /// The first message of the vectors.
    static func push() throws -> Push {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../Tests/SignetCoreTests/Vectors/push.json")
        let vectors = try JSONDecoder().decode(JSONValue.self, from: Data(contentsOf: file))
        guard let secret = vectors["secret"]?.string, let jwt = vectors["messages"]?.array?.first?["jwt"]?.string else {
            throw BenchError("\(file.path) has no messages")
        }
        let bytes = try Base64.decode(secret)
        let message = try SealedPushMessage(jwt).open(with: Secret(bytes))
        guard let sentAt = message.sentAt, case .number(let choices) = message.kind, let number = choices.first else {
            throw BenchError("the first message of \(file.path) is not one with every claim")
        }
        return Push(jwt: jwt, secret: bytes, mechanismUID: message.mechanismUID, sentAt: sentAt, number: number)
    }
}
