import SignetCore

@testable import signet

extension PushInvitation {
    /// The secret that a test shares with the authenticator.
    static let sampleSecret = Secret((0..<32).map { UInt8($0) * 7 &+ 3 })

    /// An invitation to a server on this machine.
    static func sample(port: Int) throws -> PushInvitation { try sample(url: "http://127.0.0.1:\(port)") }

    /// An invitation to a server at `url`.
    static func sample(url: String, policy: EndpointPolicy = .secure) throws -> PushInvitation {
        PushInvitation(
            secret: sampleSecret, challenge: Array(repeating: 9, count: 32), messageID: "REGISTER:1",
            registrationEndpoint: try Endpoint(url + "/register", policy: policy),
            authenticationEndpoint: try Endpoint(url + "/authenticate", policy: policy), loadBalancerCookie: "amlbcookie=01")
    }

    /// The URI that offers this invitation, and, on request, one-time codes with it.
    func uri(issuer: String = "Harbor", account: String = "mira", oath: OATHSettings? = nil) -> String {
        EnrollmentURI.print(Enrollment(account: AccountID(issuer: issuer, accountName: account), oath: oath, push: self))
    }
}

/// One-time code accounts for tests.
enum OATHSample {
    static let secretText = "KDJ7CDBNBTGWZBQC7WMBG46RPBZ6L4UD"

    static var secret: Secret {
        get throws { Secret(try Base32.decode(secretText)) }
    }

    static func uri(_ type: String = "totp", issuer: String = "Harbor", account: String = "mira", _ extra: String = "") -> String
    {
        "otpauth://\(type)/\(issuer):\(account)?secret=\(secretText)&issuer=\(issuer)\(extra)"
    }
}

extension GrayImage {
    /// Returns a picture of two pictures, on a white ground.
    static func sideBySide(_ left: GrayImage, _ right: GrayImage) throws -> GrayImage {
        let result = try GrayImage(width: left.width + right.width, height: max(left.height, right.height))
        result.pixels.withBytes { _ = $0.initializeMemory(as: UInt8.self, repeating: 255) }
        for (image, start) in [(left, 0), (right, left.width)] {
            image.pixels.withBytes { source in
                result.pixels.withBytes { pixels in
                    for index in source.indices {
                        pixels[index / image.width * result.width + start + index % image.width] = source[index]
                    }
                }
            }
        }
        return result
    }
}
