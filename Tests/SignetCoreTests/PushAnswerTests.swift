import SignetCore
import Testing

@Suite("Push answers and registration")
struct PushAnswerTests {
    private func vector(_ name: String) throws -> String { try #require(try Vectors.load("push")[name]?.string) }

    private static func answer(named name: String) throws -> PushAnswer {
        switch name {
        case "approve": return .approve
        case "deny": return .deny
        default:
            let number = Int(name.drop { !$0.isNumber })
            return .approveNumber(try #require(number))
        }
    }

    /// Returns the claims of a body whose signature is valid.
    private func claims(of jwt: String) throws -> JSONValue {
        try JSON.value(of: CompactJWS(jwt).payload(verifiedWith: Sample.pushSecret))
    }

    @Test(
        "An answer has exactly the claims of its row, and the row's own answer verifies",
        arguments: try Vectors.rows("push", "answers"))
    func answerVectors(row: Vectors.Row) throws {
        let expected = try #require(row.members["claims"])
        let challenge = try Base64.decode(vector("authenticationChallenge"))
        let answer = try Self.answer(named: row.text("name"))
        let signed = PushClaims.Answer(answer, challenge: challenge, secret: try Sample.pushSecret)
        let body = try PushClaims.body(messageID: "AUTHENTICATE:1", claims: signed, secret: Sample.pushSecret)

        #expect(body.messageId == "AUTHENTICATE:1")
        #expect(try claims(of: body.jwt) == expected)
        #expect(try claims(of: row.text("jwt")) == expected)
        #expect(
            try JSON.decode(PushClaims.Answer.self, from: CompactJWS(row.text("jwt")).payload(verifiedWith: Sample.pushSecret))
                == signed)
    }

    @Test("The responses to both challenges match the vectors", arguments: ["registration", "authentication"])
    func challengeResponses(step: String) throws {
        let challenge = try Base64.decode(vector("\(step)Challenge"))
        #expect(PushClaims.response(to: challenge, secret: try Sample.pushSecret) == (try vector("\(step)Response")))
    }

    @Test("A registration has exactly the vectors' claims and equals the token of section 3.3 except for member order")
    func registrationClaims() throws {
        let expected = try #require(try Vectors.load("push")["registrationClaims"])
        let signed = PushClaims.Registration(
            response: try vector("registrationResponse"), mechanismUid: Sample.mechanismUID,
            deviceId: "3C9E9DEE4F2E33602F2BE4F58C94CC0580F9B28F92AC79EF54BA06CF632D7B70", deviceName: "Mira's phone",
            deviceType: "ios",
            communicationType: "apns")
        let body = try PushClaims.body(messageID: "REGISTER:1", claims: signed, secret: Sample.pushSecret)
        let printed =
            "eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9.eyJyZXNwb25zZSI6IkxjRHBYNkY4M1VZRmV3aGJ4cDN4VXkxVGk5THBIeUh2NlNqRGMyTk8xeUk9Iiwi"
            + "bWVjaGFuaXNtVWlkIjoiNkQwRTBDMUItNTJBNC00RTNDLTlDMUItNkI2RjFFOUY3QTEwIiwiZGV2aWNlSWQiOiIzQzlFOURFRTRGMkUzMzYwMkYyQkU0R"
            + "jU4Qzk0Q0MwNTgwRjlCMjhGOTJBQzc5RUY1NEJBMDZDRjYzMkQ3QjcwIiwiZGV2aWNlTmFtZSI6Ik1pcmEncyBwaG9uZSIsImRldmljZVR5cGUiOiJpb3"
            + "MiLCJjb21tdW5pY2F0aW9uVHlwZSI6ImFwbnMifQ.46mu93Fr_PHkTsUg3LDLLw6bEMUMWNaieOHXyxaDiRU"

        #expect(try claims(of: body.jwt) == expected)
        #expect(try claims(of: printed) == expected)
        #expect(body.jwt.hasPrefix("eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9."))
    }

    @Test("A body has the two members that servers know, and `/` is not escaped")
    func answerBody() throws {
        let body = PushRequestBody(messageId: "REGISTER:a/b", jwt: "x.y.z")
        #expect(JSON.text(of: body) == #"{"jwt":"x.y.z","messageId":"REGISTER:a/b"}"#)
        #expect(try JSON.decode(PushRequestBody.self, from: JSON.encode(body)) == body)
    }

    @Test(
        "An approval has no `deny` claim",
        arguments: [PushAnswer.approve, .approveNumber(34)])
    func approvalHasNoDenyClaim(answer: PushAnswer) throws {
        let signed = PushClaims.Answer(answer, challenge: [1], secret: try Sample.pushSecret)
        #expect(!JSON.text(of: signed).contains("deny"))
    }
}
