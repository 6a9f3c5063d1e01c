#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// One line of a server's ``RequestLog``: a request that was answered, what became of a push message, a letter that a journey sent, or what
/// the server asked SNS for.
///
/// There is no secret in it: no password, code, token, header or body, and of parameters the names, with the values of those
/// that say how something is asked and not what with. The link of a letter, which logs in whoever has it, is where the letters are:
/// ``DevServer/letters(to:realm:)``.
public struct RequestLogEntry: Sendable, Hashable {
    /// What happened.
    public enum Event: Sendable, Hashable {
        /// A request was answered, or its connection cut.
        case request(Request)
        /// A push message was made, delivered, answered or refused.
        case push(Push)
        /// A journey sent a letter.
        case letter(Email)
        /// The server itself asked SNS for something.
        case sns(SNSRequest)
    }

    /// Counts the entries from 1; no number comes twice.
    public let number: Int
    /// When it happened, by the server's clock.
    public let at: Date
    /// What happened.
    public let event: Event
    /// The names of the faults that were applied to it, in that order.
    public let faults: [String]

    /// The request; nil when the entry is of another kind.
    public var request: Request? {
        if case .request(let request) = event { request } else { nil }
    }

    /// The push message; nil when the entry is of another kind.
    public var push: Push? {
        if case .push(let push) = event { push } else { nil }
    }

    /// The letter; nil when the entry is of another kind.
    public var letter: Email? {
        if case .letter(let letter) = event { letter } else { nil }
    }

    /// The server's own request to SNS; nil when the entry is of another kind.
    public var sns: SNSRequest? {
        if case .sns(let request) = event { request } else { nil }
    }
}

extension RequestLogEntry {
    /// Who asked, as far as the request said.
    public struct Client: Sendable, Hashable {
        /// The OAuth 2.0 client's id.
        public var oauth: String?
        /// The id of a push device's mechanism.
        public var device: String?
        /// The `User-Agent` header, at most 128 characters of it.
        public var userAgent: String?
        /// The IP address; nil for a client in the server's own process.
        public var address: String?

        /// A client of whom nothing is known.
        public init() {}
    }

    /// A parameter of a query, a form or a JSON body.
    public struct Parameter: Sendable, Hashable {
        /// Its name.
        public let name: String
        /// Its value, if it is one that can be told; nil when it may be a secret.
        public let value: String?
    }

    /// A request and its answer.
    public struct Request: Sendable, Hashable {
        /// Stands for the method and the path of a request whose head did not arrive whole (408, 431 or 400).
        static let unknown = "-"

        /// The method, for example `POST`; `-` when the head did not arrive whole.
        public let method: String
        /// The path, at most 200 characters of it, without the query; `-` when the head did not arrive whole. A session's token in it is
        /// replaced by `...`.
        public let path: String
        /// The name of the resource, as ``FaultRoute`` has it; nil for addresses that are not there, and for the console and
        /// the administration.
        public let resource: String?
        /// The status of the answer; 0 when the connection was cut before there was any.
        public let status: Int
        /// How long the answer took, up to its body, by the machine's clock.
        public let duration: Duration
        /// The parameters, at most 24 of them. A JSON body's members are among them, `callbacks` with their types.
        public let parameters: [Parameter]
        /// Why it was refused: an OAuth 2.0 error code, or the message of AM's error body; nil when it was granted.
        public let problem: String?
        /// Who asked.
        public let client: Client

        /// Whether a parameter of this name came.
        public func has(_ name: String) -> Bool { parameters.contains { $0.name == name } }

        /// The value of a parameter; nil when it did not come, or its value is not told.
        public subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }
    }

    /// A step in the life of a push message.
    public struct Push: Sendable, Hashable {
        /// The steps.
        public enum Step: String, Sendable, Hashable, CaseIterable {
            /// A journey has sent it.
            case made
            /// It went out on a stream of the device's.
            case delivered
            /// SNS has it.
            case published
            /// SNS did not take it, and will not be asked again; ``reason`` says why.
            case undeliverable
            /// The device approved it.
            case approved
            /// The device denied it.
            case denied
            /// An answer was not taken; ``reason`` says why.
            case refused
        }

        /// What happened.
        public let step: Step
        /// The message's id.
        public let messageID: String
        /// The id of the device's mechanism; nil when nobody knows it.
        public let device: String?
        /// The number of the stream that it was delivered to; nil for the other steps.
        public let stream: UInt64?
        /// Why an answer was refused, for example `signature`, `expired`, `numberWrong`, or why the message cannot be delivered; nil
        /// for the other steps.
        public let reason: String?

        init(_ step: Step, _ messageID: String, device: String?, stream: UInt64? = nil, reason: String? = nil) {
            self.step = step
            self.messageID = messageID
            self.device = device
            self.stream = stream
            self.reason = reason
        }
    }

    /// A letter that a journey sent, without its link.
    public struct Email: Sendable, Hashable {
        /// To whom: the user's name.
        public let user: String
        /// The realm the user lives in, as a path.
        public let realm: String
    }

    /// A request of the server's own to SNS, and how it was answered.
    public struct SNSRequest: Sendable, Hashable {
        /// What SNS was asked to do, for example `Publish`.
        public let action: String
        /// The status of the answer; 0 when none came.
        public let status: Int
        /// How long the answer took, by the machine's clock.
        public let duration: Duration

        init(_ action: String, _ status: Int, took duration: Duration) {
            self.action = action
            self.status = status
            self.duration = duration
        }
    }
}
