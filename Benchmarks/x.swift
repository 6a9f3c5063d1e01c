import JWTKit
@main struct Main { static func main() {} }
