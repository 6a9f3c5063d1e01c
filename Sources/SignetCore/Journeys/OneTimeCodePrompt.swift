extension StringProtocol {
    /// A Boolean value that indicates whether the text asks for a one-time code, as the prompts of servers do: `Enter
    /// verification code`, `One Time Password`, `Recovery Code`, `PIN`.
    ///
    /// Servers ask for codes in callbacks for names, passwords and texts, so the prompt is the only indication.
    package var asksForOneTimeCode: Bool {
        // Most pages ask for these, and to read a text takes far longer.
        if self == "User Name" || self == "Password" { return false }
        let text = lowercased()
        let letters = text.filter { $0.isLetter || $0.isNumber }
        if ["code", "onetime", "einmal"].contains(where: { letters.contains($0) }) { return true }
        let words = text.split { !$0.isLetter && !$0.isNumber }
        return words.contains { ["otp", "totp", "hotp", "pin", "tan", "mfa", "2fa"].contains($0) }
    }
}
